/// The software that seems to have written a response: the server's own, or some in front of it. It is a guess, for messages and for
/// doubting a success; what an upload believes is a ``Verdict``.
public enum LikelySoftware: String, Equatable, Sendable, CaseIterable {
  case apache
  /// An AWS load balancer.
  case awsELB = "aws-elb"
  case caddy
  case cloudflare
  /// The login of Cloudflare Access.
  case cloudflareAccess = "cloudflare-access"
  /// A page of Cloudflare's that only a browser can pass.
  case cloudflareChallenge = "cloudflare-challenge"
  case gigHive = "gighive"
  case haproxy
  /// Microsoft's web server.
  case iis
  case lighttpd
  case liteSpeed = "litespeed"
  /// A page that asks for a login: a captive portal, or a gateway with single sign-on.
  case loginPage = "login-page"
  case modSecurity = "modsecurity"
  case nginx
  /// A limit of PHP's.
  case php
  /// A PHP program that failed.
  case phpError = "php-error"
  case s3
  case squid
  /// A tus server, such as tusd.
  case tus
  case unknown
  case varnish

  /// Whether it answers in the server's place until somebody logs in.
  package var isLogin: Bool { self == .loginPage || self == .cloudflareAccess }

  /// For people: "nginx". Nil for ``unknown``.
  package var name: String? {
    switch self {
    case .apache: "Apache"
    case .awsELB: "the AWS load balancer"
    case .caddy: "Caddy"
    case .cloudflare, .cloudflareChallenge: "Cloudflare"
    case .cloudflareAccess: "Cloudflare Access"
    case .gigHive: "GigHive"
    case .haproxy: "HAProxy"
    case .iis: "IIS"
    case .lighttpd: "lighttpd"
    case .liteSpeed: "LiteSpeed"
    case .loginPage: "a login page"
    case .modSecurity: "ModSecurity"
    case .nginx: "nginx"
    case .php, .phpError: "PHP"
    case .s3: "S3"
    case .squid: "the proxy squid"
    case .tus: "the tus server"
    case .unknown: nil
    case .varnish: "Varnish"
    }
  }
}
