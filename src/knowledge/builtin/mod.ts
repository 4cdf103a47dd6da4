// The skills that are part of the program: text imports, in the layout of the skills folder.
import type { SkillFile } from "../document.ts";
import ciscoIosDevice from "./device/cisco_ios.md" with { type: "text" };
import frrDevice from "./device/frr.md" with { type: "text" };
import huaweiVrpDevice from "./device/huawei_vrp.md" with { type: "text" };
import linuxDevice from "./device/linux.md" with { type: "text" };
import ruijieRgosDevice from "./device/ruijie_rgos.md" with { type: "text" };
import vpcsDevice from "./device/vpcs.md" with { type: "text" };
import topologyPlanner from "./feature/topology_planner.md" with { type: "text" };
import accessControlIssues from "./injection/access_control_issues.yaml" with { type: "text" };
import bgpIssues from "./injection/bgp_issues.yaml" with { type: "text" };
import dhcpIssues from "./injection/dhcp_issues.yaml" with { type: "text" };
import eigrpIssues from "./injection/eigrp_issues.yaml" with { type: "text" };
import interfaceIssues from "./injection/interface_issues.yaml" with { type: "text" };
import natIssues from "./injection/nat_issues.yaml" with { type: "text" };
import ospfIssues from "./injection/ospf_issues.yaml" with { type: "text" };
import packetFilterIssues from "./injection/packet_filter_issues.yaml" with { type: "text" };
import staticRouteIssues from "./injection/static_route_issues.yaml" with { type: "text" };
import stpIssues from "./injection/stp_issues.yaml" with { type: "text" };
import vlanTrunkIssues from "./injection/vlan_trunk_issues.yaml" with { type: "text" };
import arpPackets from "./packet_analysis/arp.yaml" with { type: "text" };
import bgpPackets from "./packet_analysis/bgp.yaml" with { type: "text" };
import dhcpPackets from "./packet_analysis/dhcp.yaml" with { type: "text" };
import dnsPackets from "./packet_analysis/dns.yaml" with { type: "text" };
import icmpPackets from "./packet_analysis/icmp.yaml" with { type: "text" };
import ospfPackets from "./packet_analysis/ospf.yaml" with { type: "text" };
import stpPackets from "./packet_analysis/stp.yaml" with { type: "text" };
import tcpPackets from "./packet_analysis/tcp.yaml" with { type: "text" };

export const BUILTIN: readonly SkillFile[] = [
  { path: "device/cisco_ios.md", text: ciscoIosDevice },
  { path: "device/frr.md", text: frrDevice },
  { path: "device/huawei_vrp.md", text: huaweiVrpDevice },
  { path: "device/linux.md", text: linuxDevice },
  { path: "device/ruijie_rgos.md", text: ruijieRgosDevice },
  { path: "device/vpcs.md", text: vpcsDevice },
  { path: "feature/topology_planner.md", text: topologyPlanner },
  { path: "injection/access_control_issues.yaml", text: accessControlIssues },
  { path: "injection/bgp_issues.yaml", text: bgpIssues },
  { path: "injection/dhcp_issues.yaml", text: dhcpIssues },
  { path: "injection/eigrp_issues.yaml", text: eigrpIssues },
  { path: "injection/interface_issues.yaml", text: interfaceIssues },
  { path: "injection/nat_issues.yaml", text: natIssues },
  { path: "injection/ospf_issues.yaml", text: ospfIssues },
  { path: "injection/packet_filter_issues.yaml", text: packetFilterIssues },
  { path: "injection/static_route_issues.yaml", text: staticRouteIssues },
  { path: "injection/stp_issues.yaml", text: stpIssues },
  { path: "injection/vlan_trunk_issues.yaml", text: vlanTrunkIssues },
  { path: "packet_analysis/arp.yaml", text: arpPackets },
  { path: "packet_analysis/bgp.yaml", text: bgpPackets },
  { path: "packet_analysis/dhcp.yaml", text: dhcpPackets },
  { path: "packet_analysis/dns.yaml", text: dnsPackets },
  { path: "packet_analysis/icmp.yaml", text: icmpPackets },
  { path: "packet_analysis/ospf.yaml", text: ospfPackets },
  { path: "packet_analysis/stp.yaml", text: stpPackets },
  { path: "packet_analysis/tcp.yaml", text: tcpPackets },
];
