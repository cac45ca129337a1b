/// Which addresses of a host are used.
public enum AddressFamily: Sendable { case any, ipv4, ipv6 }
