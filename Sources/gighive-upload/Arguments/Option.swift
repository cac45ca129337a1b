/// Every option of the program, in the order of the help.
enum Option: Int32 {
  // Above 255, so that they do not collide with the characters of short options.
  case server = 256
  case multipartURL, tusURL, protocolChoice, threshold, sendTest, link
  case eventDate, dayStarts, orgName, eventType, label, participants, keywords, location, rating, notes
  case field, fileField, fileName, mime, metadata
  case user, passwordFile, netrc, netrcFile, bearerFile, uploadTokenFile, headerFile, sharedSecrets
  case cacert, capath, cert, key, pin, insecure
  case resolveTimeout, connectTimeout, handshakeTimeout, stallTimeout, responseTimeout, maxTime
  case retries, retryFor, retryMaxDelay
  case limitRate, proxy, proxyUser, proxyPasswordFile, header, chunkSize, methodOverride, deferLength
  case jobs, stateDir, maxSize, maxMemory, digest, congestion, ipv4, ipv6
  case config, to
  case recursive, match, exclude, minSize, from, dryRun, again, all, strict, forget, prune
  case settle, existing, order, interface, after, keepFree, trustServer, trustSettle, onEvent, metrics
  case progress, color, json, jsonProgress, quiet, verbose, help
}
