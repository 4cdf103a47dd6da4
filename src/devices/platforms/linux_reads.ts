// The commands of a Linux shell that only look or test, each with exactly the arguments that keep it so. Nothing here
// lets through quotes (vtysh apart), globs, variables or any other character that a shell would act on.

const NAME = "[A-Za-z0-9][\\w.:@-]*";
const HOST = "[A-Za-z0-9:][\\w.:%-]*";

/** The whole command: a program and then `rest`, each part of which is optional or not as it says. */
const only = (program: string, rest = "") => new RegExp(`^(?:${program})${rest}$`);
const any = (...parts: string[]) => `(?:\\s+(?:${parts.join("|")}))*`;
const maybe = (part: string) => `(?:\\s+${part})?`;

/** What `ip` shows; its words for changing (add, del, set, flush …) are just not here. */
const IP_OBJECT =
  "(?:a|ad|addr|address|l|li|link|r|ro|route|n|neigh|neighbor|neighbour|rule|maddr|mroute|nexthop|vrf|tunnel)";
const IP_OPTIONS = any(
  "-[46sdohrj]",
  "-br(?:ief)?",
  "-c(?:olor)?(?:=never)?",
  "-details",
  "-stat(?:istic)?s",
  "-p(?:retty)?",
  "-j(?:son)?",
);
const IP_SHOW = `\\s+(?:show|sho|sh|list|lst|ls)${any(NAME, "\\d[\\d./]*", "[0-9a-fA-F:]+(?:/\\d+)?")}`;

/** Files that tell how a host is set up, and those of the kernel's network. */
const FILES = [
  "/etc/(?:resolv\\.conf|hosts|hostname|os-release|issue|network/interfaces|nsswitch\\.conf|debian_version|alpine-release)",
  "/etc/netplan/[\\w-]+\\.yaml",
  "/etc/frr/(?:daemons|frr\\.conf|vtysh\\.conf|zebra\\.conf|ospfd\\.conf|bgpd\\.conf|staticd\\.conf)",
  "/etc/dhcp/(?:dhclient|dhcpd)\\.conf",
  "/etc/dnsmasq\\.conf",
  "/proc/(?:version|uptime|loadavg|cpuinfo|meminfo|mounts|cmdline|modules|interrupts)",
  "/proc/net/(?:dev|route|arp|tcp6?|udp6?|raw|if_inet6|ipv6_route|fib_trie|snmp|sockstat|vlan/config)",
  "/proc/sys/net/ipv[46](?:/[a-z0-9_]+)+",
  "/sys/class/net/[\\w.-]+/(?:operstate|mtu|address|carrier|speed|duplex)",
  "/var/lib/(?:misc/dnsmasq\\.leases|dhcp/dhcpd\\.leases)",
].join("|");

const SHOWN = "show [\\w .:/-]+(?:\\| ?include [\\w .:/-]+)?";

export const LINUX_READS: RegExp[] = [
  only("ip", `${IP_OPTIONS}\\s+${IP_OBJECT}(?:${IP_SHOW})?`),
  only(
    "ip",
    `${IP_OPTIONS}\\s+(?:r|ro|route)\\s+get\\s+${HOST}${
      any("from", "iif", "oif", "dev", "mark", "vrf", HOST)
    }`,
  ),
  only("ifconfig", `${maybe("-a")}${maybe("[a-z][\\w.]*")}`),
  only("route", any("-[n46ev]+")),
  only("arp", `${any("-[anve]+")}${maybe(HOST)}`),
  only("netstat", any("-[rntuliapesW46]+")),
  only(
    "ss",
    `${any("-[tulnapeimorsx460wHO]+")}${
      any("state", "established", "listening", "connected", "[sd]port", "dst", "src", "=", ":\\d+", HOST)
    }`,
  ),
  only(
    "ping6?",
    `${
      any("-[nqv46]+", `-[csWwtI]\\s?${HOST}`, "-i\\s?(?:[1-9]\\d*|0\\.[2-9])", "-M\\s(?:do|dont|want)")
    }\\s+${HOST}${maybe("-[cw]\\s?\\d+")}`,
  ),
  only("traceroute6?|tracepath6?", `${any("-[nIUTF46b]+", `-[mqwsifpt]\\s?${HOST}`)}\\s+${HOST}`),
  only("nslookup|host", `\\s+${HOST}${maybe(HOST)}`),
  only(
    "dig",
    `${any(`@${HOST}`, "\\+short", "-x")}\\s+${HOST}${
      any("A", "AAAA", "ANY", "MX", "NS", "PTR", "SOA", "TXT", "\\+short")
    }`,
  ),
  only("bridge", `${any("-[sdjpc]")}\\s+(?:link|fdb|vlan|mdb)(?:\\s+show${any(NAME)})?`),
  only("brctl", "\\s+(?:show|showmacs|showstp)" + maybe(NAME)),
  only("ethtool", `${maybe("-[SikgcTa]")}\\s+[a-z][\\w.]*`),
  only("ip6?tables", any("-t (?:filter|nat|mangle|raw)", "-[LSnvx]+", "--line-numbers", "[A-Z][A-Z_0-9-]*")),
  only("nft", "\\s+list\\s+(?:ruleset|tables|chains|sets|table" + any(NAME) + ")"),
  only("sysctl", `${maybe("-[na]")}${any("[a-z][a-z0-9_.-]*")}`),
  only("cat", `(?:\\s+(?:${FILES}))+`),
  only(
    "(?:head|tail)",
    `${maybe("(?:-n\\s?)?-?\\d+")}\\s+(?:${FILES}|/var/log/[\\w-]+(?:/[\\w-]+)?\\.?(?:log)?)`,
  ),
  only("ls", `${any("-[alhtr1RSd]+")}${any("[\\w/][\\w./-]*")}`),
  only("uname", any("-[asnrvmpio]+")),
  only("hostname", maybe("-[Iifsd]")),
  only("(?:whoami|id|pwd|uptime|date|w|who|lsmod|nproc|arch|tty|mount)"),
  only("(?:dmesg)", any("-[THx]+")),
  only("free", any("-[bkmgh]")),
  only("df", any("-[hkT]+", "/[\\w/.-]*")),
  only("ps", any("-?(?:aux?w*|ef|e|f|w|x)")),
  only("lsb_release", "\\s+-a"),
  only("which", `\\s+${NAME}`),
  only("systemctl", `(?:\\s+--no-pager)?\\s+(?:status|is-active|is-enabled|show)\\s+${NAME}\\s+--no-pager`),
  only("systemctl", `\\s+--no-pager\\s+(?:status|is-active|is-enabled|show|list-units)${maybe(NAME)}`),
  only("journalctl", `\\s+--no-pager${any("-u\\s?" + NAME, "-n\\s?\\d+", "-b", "-k", "-r")}`),
  only("vtysh", `(?:\\s+-c\\s+(?:"${SHOWN}"|'${SHOWN}'))+`),
];
