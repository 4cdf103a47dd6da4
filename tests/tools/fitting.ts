// Arguments for every tool, for tests that go through all of them.

/** For each tool, arguments that fit it; the riskiest where they decide. */
export const FITTING: Record<string, unknown> = {
  gns3_topology_reader: {},
  get_gns3_templates: {},
  create_gns3_node: { nodes: [{ template_id: "t" }] },
  create_gns3_link: { links: [{ node_id1: "a", port1: "e0", node_id2: "b", port2: "e0" }] },
  start_gns3_node: { node_ids: ["a"] },
  stop_gns3_node: { node_ids: ["a"] },
  suspend_gns3_node: { node_ids: ["a"] },
  update_gns3_node_name: { nodes: [{ node_id: "a", new_name: "b" }] },
  create_gns3_text_drawing: { x: 0, y: 0, text: "a" },
  create_gns3_rectangle_drawing: { x: 0, y: 0, width: 1, height: 1 },
  create_gns3_ellipse_drawing: { x: 0, y: 0, width: 1, height: 1 },
  delete_gns3_node: { node_ids: ["a"] },
  delete_gns3_link: { link_ids: ["a"] },
  create_gns3_snapshot: { name: "a" },
  restore_gns3_snapshot: { name: "a" },
  list_gns3_snapshots: {},
  manage_gns3_packet_filter: { link_id: "a", action: "set", filters: {} },
  start_gns3_capture: { link_id: "a" },
  stop_gns3_capture: { link_id: "a" },
  list_gns3_captures: {},
  packet_analysis: { link_id: "a" },
  wait_seconds: { seconds: 1 },
  execute_multiple_device_commands: {
    device_configs: [{ device_name: "a", commands: ["show version", "reload"] }],
  },
  execute_multiple_device_config_commands: {
    device_configs: [{ device_name: "a", config_commands: ["reload"] }],
  },
  compare_device_config: { device_names: ["a"] },
  execute_vpcs_commands: { device_configs: [{ device_name: "a", commands: ["show ip", "ip 10.0.0.1/24"] }] },
  packet_analysis_skills: { action: "get", protocol: "ospf" },
  device_skills: { device_type: "cisco_ios_telnet", topic: "ospf" },
  injection_skills: { action: "record", issue: "x", devices: ["R1"], note: "y" },
};
