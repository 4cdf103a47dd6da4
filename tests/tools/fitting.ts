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
  wait_seconds: { seconds: 1 },
  execute_multiple_device_commands: {
    device_configs: [{ device_name: "a", commands: ["show version", "reload"] }],
  },
  execute_multiple_device_config_commands: {
    device_configs: [{ device_name: "a", config_commands: ["reload"] }],
  },
  compare_device_config: { device_names: ["a"] },
  execute_vpcs_commands: { device_configs: [{ device_name: "a", commands: ["show ip", "ip 10.0.0.1/24"] }] },
};
