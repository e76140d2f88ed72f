"""Where a lab runs: the machine's own kernel (native) or a User-Mode Linux kernel booted as a process (uml)."""
