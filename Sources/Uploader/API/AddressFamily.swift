/// The addresses of a host to use.
public enum AddressFamily: Sendable { case any, ipv4, ipv6 }
