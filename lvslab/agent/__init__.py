"""What runs inside the kernel: hands without a brain, on the standard library alone.

Python start-up and imports are ten times dearer in a User-Mode Linux guest than on the host, so this
package makes namespaces, passes netlink messages, writes sysctls, records, serves and starts programs;
it decides nothing. Its messages are described in :mod:`lvslab.agent.wire` and :mod:`lvslab.agent.operations`.
"""
