// Projects, nodes and links in GNS3's JSON, with the fields that each version has.
import type { Cable } from "../network.ts";
import type { Device, Socket } from "../device.ts";
import type { Gns3Version } from "./error.ts";
import type { LabLink, LabNode, LabProject, ServerState } from "./state.ts";

export function projectJson(project: LabProject, version: Gns3Version): Record<string, unknown> {
  return {
    name: project.name,
    project_id: project.projectId,
    path: project.path,
    auto_close: project.autoClose,
    auto_open: project.autoOpen,
    auto_start: project.autoStart,
    scene_height: project.sceneHeight,
    scene_width: project.sceneWidth,
    zoom: 100,
    show_layers: false,
    snap_to_grid: false,
    show_grid: false,
    grid_size: 75,
    drawing_grid_size: 25,
    show_interface_labels: version !== "3.0.6",
    supplier: null,
    variables: project.variables,
    status: project.status,
    filename: `${project.name}.gns3`,
    ...(version === "3.0.6" ? {} : { created_by: project.createdBy }),
  };
}

function portJson(socket: Socket): Record<string, unknown> {
  return {
    name: socket.name,
    short_name: socket.shortName,
    adapter_number: socket.adapter,
    adapter_type: null,
    port_number: socket.port,
    link_type: "ethernet",
    data_link_types: { Ethernet: "DLT_EN10MB" },
    mac_address: null,
  };
}

function propertiesOf(node: LabNode, device: Device): Record<string, unknown> {
  if (node.nodeType === "dynamips") {
    return { platform: "c7200", ram: 512, slot0: "C7200-IO-2FE", slot1: "PA-2FE-TX", usage: "" };
  }
  if (node.nodeType === "vpcs") return { compute_id: "local", usage: null };
  const mapping = device.sockets.map(({ name, port }) => ({
    name,
    port_number: port,
    type: "access",
    vlan: 1,
    ethertype: "0x8100",
  }));
  return { compute_id: "local", usage: "", ports_mapping: mapping };
}

const PORT_NAMES = {
  vpcs: "Ethernet{0}",
  ethernet_switch: "Ethernet{0}",
  dynamips: "FastEthernet{segment0}/{port0}",
};

/** Where GNS3 keeps a node's files. */
export function nodeDirectory(project: LabProject, node: LabNode): string {
  return `${project.path}/project-files/${node.nodeType}/${node.nodeId}`;
}

/** A node; in a closed project only what GNS3 then still tells. */
export function nodeJson(state: ServerState, project: LabProject, node: LabNode): Record<string, unknown> {
  const device = project.net.devices.get(node.nodeId)!;
  const console = project.consoles.of(node.nodeId);
  const old = state.version === "3.0.6";
  const json: Record<string, unknown> = {
    compute_id: "local",
    name: device.name,
    node_type: node.nodeType,
    node_id: node.nodeId,
    console: console?.port ?? null,
    console_type: console ? "telnet" : "none",
    console_auto_start: false,
    ...(old ? {} : {
      netmiko_device_type: node.netmikoDeviceType,
      default_username: node.username,
      default_password: node.password,
    }),
    aux: null,
    aux_type: null,
    properties: propertiesOf(node, device),
    label: node.label,
    symbol: node.symbol,
    x: node.x,
    y: node.y,
    z: node.z,
    locked: node.locked,
    port_name_format: PORT_NAMES[node.nodeType],
    port_segment_size: node.nodeType === "dynamips" ? 2 : 0,
    first_port_name: null,
    custom_adapters: [],
    ...(old ? {} : { tags: node.tags }),
    template_id: node.template?.id ?? null,
    width: 60,
    height: 60,
  };
  if (project.status === "closed") return json;
  return Object.assign(json, {
    project_id: project.projectId,
    node_directory: node.nodeType === "ethernet_switch" ? null : nodeDirectory(project, node),
    status: device.power,
    command_line: "",
    ports: device.sockets.map(portJson),
    console_host: "127.0.0.1",
    ...(old ? {} : { missing_image: false, missing_images: [] }),
  });
}

export function linkJson(state: ServerState, project: LabProject, link: LabLink): Record<string, unknown> {
  const cable: Cable = project.net.cables.get(link.linkId)!;
  const old = state.version === "3.0.6";
  return {
    nodes: cable.ends.map((end, index) => {
      const socket = project.net.devices.get(end.device)!.sockets[end.socket]!;
      return {
        node_id: end.device,
        adapter_number: socket.adapter,
        port_number: socket.port,
        label: link.labels[index],
      };
    }),
    suspend: cable.suspended,
    link_style: link.style,
    filters: cable.filters,
    ...(old ? {} : { markers: {}, show_filters_icon: true }),
    link_id: link.linkId,
    project_id: project.projectId,
    link_type: "ethernet",
    ...(old ? {} : { kernel_datapath: false }),
    capturing: link.capture?.active ?? false,
    capture_file_name: link.capture?.name ?? null,
    capture_file_path: link.capture?.path ?? null,
    capture_compute_id: link.capture?.active ? "local" : null,
    ...(old ? {} : { wireshark: false }),
  };
}
