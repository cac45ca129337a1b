extension LikelySoftware {
  /// What to do about a response of this program, as sentences that name its setting; nil if its status says enough or the
  /// program is not known.
  /// - Parameters:
  ///   - status: 200 to 599.
  ///   - request: what it answers.
  ///   - hasCredentials: whether the request had some. GigHive takes no form without.
  package func remedy(
    status: Int, to request: AnsweredRequest = .gigHiveForm, hasCredentials: Bool = true
  ) -> String? {
    switch self {
    case .apache where request == .gigHiveForm && !hasCredentials && status == 413:
      LikelySoftware.limitOfApache(withoutCredentials: status)
    case .apache: LikelySoftware.ofApache(status)
    case .awsELB: LikelySoftware.ofAWSELB(status)
    case .caddy: LikelySoftware.ofCaddy(status)
    case .cloudflare: LikelySoftware.ofCloudflare(status, mayUseTus: request != .otherForm)
    case .cloudflareAccess:
      "It admits only people who have logged in. A program needs a service token: create one in Cloudflare's dashboard, allow it"
        + " with a policy (Service Auth), and send its two header fields, CF-Access-Client-Id and CF-Access-Client-Secret."
    case .cloudflareChallenge:
      "It accepts only browsers here. In its dashboard, let the upload's paths skip challenges and Bot Fight Mode (a"
        + " custom rule with the action Skip)."
    case .haproxy: LikelySoftware.ofHAProxy(status)
    case .iis:
      status == 413 ? "Raise maxAllowedContentLength (requestFiltering in web.config; 30 MB unless it is set)." : nil
    case .lighttpd: status == 413 ? "Raise server.max-request-size in lighttpd.conf (in kB)." : nil
    case .liteSpeed: status == 413 ? "Raise Max Request Body Size (Server, Tuning; maxReqBodySize)." : nil
    case .loginPage:
      "This network, or a gateway in front of the server, requires a login. Open any page in a browser on this network"
        + " and log in, or use another network."
    case .modSecurity: LikelySoftware.ofModSecurity(status)
    case .nginx: LikelySoftware.ofNginx(status)
    case .php:
      // Also with other statuses: all messages by which it is known are about its limits.
      "Raise upload_max_filesize and post_max_size in the server's php.ini (2M and 8M unless they are set)"
        + (request == .otherForm ? "." : ", or send it over tus.")
    case .phpError: "A program on the server has failed. PHP's error log there says more."
    case .s3: LikelySoftware.ofS3(status)
    case .squid: LikelySoftware.ofSquid(status)
    case .tus: status == 413 ? "Raise its largest upload, Tus-Max-Size (tusd: -max-size)." : nil
    case .varnish: LikelySoftware.ofVarnish(status)
    case .gigHive, .unknown: nil
    }
  }

  private static let programBehind = " Check that the program behind it runs, and read its log."

  /// Which of Apache's two limits of the length of a request refuses a length. Their pages are the same, but ModSecurity refuses it
  /// before Apache asks for credentials, LimitRequestBody afterwards.
  /// - Parameter status: of the response to this length without credentials, where the server demands some.
  /// - Returns: nil if that shows neither.
  static func limitOfApache(withoutCredentials status: Int) -> String? {
    switch status {
    case 413: ofSecRequestBodyLimit
    case 401: "Raise LimitRequestBody of Apache (1 GiB by default)."
    default: nil
    }
  }

  private static let ofSecRequestBodyLimit =
    "Raise SecRequestBodyLimit and SecRequestBodyNoFilesLimit of ModSecurity (128 MiB and 128 KiB by default)."

  private static func ofApache(_ status: Int) -> String? {
    switch status {
    case 403:
      "Its error log says why: a rule of ModSecurity (with its id), or Require in Apache's configuration."
    case 405: "It does not pass this request on: check the server's address, and ProxyPass on the server."
    case 413:
      "Raise SecRequestBodyLimit and SecRequestBodyNoFilesLimit of its ModSecurity (128 MiB and 128 KiB by default), or"
        + " LimitRequestBody (1 GiB by default)."
    case 500:
      "Its error log says why. ModSecurity with SecRuleEngine DetectionOnly causes this above SecRequestBodyLimit."
    case 502, 503:
      "It got no answer from the program behind it." + programBehind
        + " With ModSecurity (SecRuleEngine DetectionOnly), a request longer than SecRequestBodyLimit has the same"
        + " effect."
    case 504: "The program behind it took too long: raise ProxyTimeout."
    default: nil
    }
  }

  private static func ofNginx(_ status: Int) -> String? {
    switch status {
    case 403: "Its error.log says why: deny, a missing index, or permissions."
    case 405: "It serves files here and takes no uploads: check the server's address, and proxy_pass on the server."
    case 413:
      "Raise client_max_body_size in its configuration (1 MB unless it is set)."
    case 500: "Its error.log says why. The disk for request bodies may be full (client_body_temp_path)."
    case 502: "It got no usable answer from the program behind it (proxy_pass)." + programBehind
    case 503: "It limits requests (limit_req, limit_conn), or the program behind it is down."
    case 504: "The program behind it took too long: raise proxy_read_timeout (60 s unless it is set)."
    default: nil
    }
  }

  /// Where to look for the limit if nothing says which program has refused a form.
  package static let limitsOfForms =
    "Forms are limited by client_max_body_size (nginx), LimitRequestBody (Apache), SecRequestBodyLimit (ModSecurity), and"
    + " post_max_size and upload_max_filesize (PHP)."

  /// The same for an upload over tus.
  package static let limitOfTus = "The largest upload of a tus server is its Tus-Max-Size (tusd: -max-size)."

  private static func ofCloudflare(_ status: Int, mayUseTus: Bool) -> String? {
    switch status {
    case 403, 406:
      "A rule of its firewall blocked the request. Security Events in its dashboard name the rule; let uploads skip it."
    case 413:
      "It accepts at most 100 MB in one request (200 MB on Business, 500 MB on Enterprise), and no setting of the"
        + " server changes that. Send it " + (mayUseTus ? "over tus in shorter requests, or " : "")
        + "to a host name that is DNS only."
    case 429: "It limits the rate of requests. Let uploads skip that rule."
    case 502, 504: "It got no usable answer from the server behind it. Check that the server runs."
    case 520: "The server behind it gave an empty or invalid answer. Read the server's log."
    case 521:
      "The server behind it refuses its connections. Check that it runs, and that its firewall allows Cloudflare."
    case 522, 523: "It cannot reach the server behind it. Check the server's network, firewall and address in its DNS."
    case 524:
      "The server behind it was silent for too long (120 s). Send it " + (mayUseTus ? "over tus, or " : "")
        + "to a host name that is DNS only."
    case 525, 526: "The TLS of the server behind it is broken or its certificate invalid. Renew that certificate."
    case 530: "It cannot find the server behind it. Check its DNS entry, or that the tunnel (cloudflared) runs."
    default: nil
    }
  }

  private static func ofModSecurity(_ status: Int) -> String? {
    switch status {
    case 413: ofSecRequestBodyLimit
    case 400..<600:
      "One of its rules refused the request. Its audit log has the id; exempt uploads with"
        + " SecRuleRemoveById."
    default: nil
    }
  }

  private static func ofCaddy(_ status: Int) -> String? {
    switch status {
    case 413: "Raise max_size of request_body in its Caddyfile."
    case 502, 503, 504: "It got no usable answer from the program behind it (reverse_proxy)." + programBehind
    default: nil
    }
  }

  private static func ofHAProxy(_ status: Int) -> String? {
    switch status {
    case 403: "One of its rules refused the request (http-request deny)."
    case 408: "The request came too slowly: raise timeout http-request and timeout client."
    case 413: "Its rule on the length of requests refused it (req.body_size or content-length in http-request deny)."
    case 502: "It got no usable answer from the program behind it." + programBehind
    case 503: "No server behind it is available." + programBehind
    case 504: "The program behind it took too long: raise timeout server."
    default: nil
    }
  }

  private static func ofAWSELB(_ status: Int) -> String? {
    switch status {
    case 403: "A rule of AWS WAF blocked the request."
    case 413: "The target behind it does not accept requests of this length (Lambda: 1 MB)."
    case 502, 503: "It got no usable answer from the target behind it. Check the health of its targets."
    case 504: "The target took too long: raise its idle timeout (60 s unless it is set)."
    default: nil
    }
  }

  private static func ofS3(_ status: Int) -> String? {
    switch status {
    case 400, 413: "The form's policy limits the length (content-length-range), and one request can have 5 GB at most."
    case 403: "The form's policy or signature does not allow this upload, or has expired."
    default: nil
    }
  }

  private static func ofSquid(_ status: Int) -> String? {
    switch status {
    case 403: "Its access rules (http_access) forbid this. Exclude the server from the proxy, or ask its administrator."
    case 413: "Raise request_body_max_size in squid.conf, or exclude the server from the proxy."
    case 502, 503, 504: "It cannot reach the server. Exclude the server from the proxy if it is in the local network."
    default: nil
    }
  }

  private static func ofVarnish(_ status: Int) -> String? {
    switch status {
    case 413: "Its VCL limits the length of requests. Let uploads bypass it (pipe)."
    case 500..<600: "It got no usable answer from the program behind it: check first_byte_timeout." + programBehind
    default: nil
    }
  }
}
