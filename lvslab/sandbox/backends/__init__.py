"""What builds the network: `netns` (network namespaces, veth pairs and bridges)."""
