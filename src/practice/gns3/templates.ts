// The templates of the practice server: only kinds of node that it can really simulate.
import type { Gns3Version } from "./error.ts";

export interface Template {
  id: string;
  name: string;
  type: "vpcs" | "dynamips" | "ethernet_switch";
  category: "guest" | "router" | "switch";
  nameFormat: string;
  symbol: string;
  tags: string[];
  builtin: boolean;
}

/** The ids of VPCS and the switch are those that every GNS3 server has. */
export const TEMPLATES: readonly Template[] = [
  {
    id: "3f1f2c1e-5d0b-4a57-9f0a-6a5d0c7be201",
    name: "Practice router",
    type: "dynamips",
    category: "router",
    nameFormat: "R{0}",
    symbol: ":/symbols/affinity/circle/blue/router.svg",
    tags: ["device_type:cisco_ios_telnet"],
    builtin: false,
  },
  {
    id: "52136454-1f50-590a-94e4-816bd02d1062",
    name: "VPCS",
    type: "vpcs",
    category: "guest",
    nameFormat: "PC{0}",
    symbol: ":/symbols/affinity/square/blue/client.svg",
    tags: ["device_type:gns3_vpcs_telnet"],
    builtin: true,
  },
  {
    id: "92a43283-9c7e-5a68-9695-1f05a2e8dd05",
    name: "Ethernet switch",
    type: "ethernet_switch",
    category: "switch",
    nameFormat: "Switch{0}",
    symbol: ":/symbols/affinity/square/blue/switch.svg",
    tags: [],
    builtin: true,
  },
];

/** The body of `/v3/templates`. */
export function templateJson(template: Template, version: Gns3Version): Record<string, unknown> {
  const json: Record<string, unknown> = {
    template_id: template.id,
    name: template.name,
    category: template.category,
    default_name_format: template.nameFormat,
    symbol: template.symbol,
    template_type: template.type,
    compute_id: template.builtin ? null : "local",
    builtin: template.builtin,
    console_type: template.type === "ethernet_switch" ? "none" : "telnet",
  };
  if (version !== "3.0.6") Object.assign(json, { tags: template.tags, usage: "" });
  return json;
}
