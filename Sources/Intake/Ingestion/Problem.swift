internal import HTTPServer
internal import ServiceRuntime

/// Why a request was not served, as an RFC 9457 problem document. The codes are part of the contract: clients act on
/// them.
struct Problem: Error {
    enum Code: String, CaseIterable {
        case notJSON = "not_json"
        case notAnObject = "not_an_object"
        case notAnArray = "not_an_array"
        case missingEvents = "missing_events"
        case missingSends = "missing_sends"
        case invalidSource = "invalid_source"
        case notUnpackable = "not_unpackable"
        case malformedRequest = "malformed_request"
        case ambiguousFraming = "ambiguous_framing"
        case missingKey = "missing_key"
        case unknownKey = "unknown_key"
        case revokedKey = "revoked_key"
        case wrongKeyKind = "wrong_key_kind"
        case unknownPath = "unknown_path"
        case methodNotAllowed = "method_not_allowed"
        case bodyStalled = "body_stalled"
        case bodyTooLarge = "body_too_large"
        case unpackedTooLarge = "unpacked_too_large"
        case tooManyEvents = "too_many_events"
        case tooManySends = "too_many_sends"
        case unsupportedMediaType = "unsupported_media_type"
        case unsupportedEncoding = "unsupported_encoding"
        case invalidCategories = "invalid_categories"
        case invalidExperiments = "invalid_experiments"
        case rateLimited = "rate_limited"
        case headTooLarge = "head_too_large"
        case unavailable = "database_unavailable"
        case overloaded = "overloaded"
        case draining = "draining"
        case notReady = "not_ready"
        case unanswered = "not_answered_in_time"
        case wrongClock = "wrong_clock"

        var status: Int {
            switch self {
            case .notJSON, .notAnObject, .notAnArray, .missingEvents, .missingSends, .invalidSource, .notUnpackable,
                .malformedRequest, .ambiguousFraming:
                400
            case .missingKey, .unknownKey: 401
            case .revokedKey, .wrongKeyKind: 403
            case .unknownPath: 404
            case .methodNotAllowed: 405
            case .bodyStalled: 408
            case .bodyTooLarge, .unpackedTooLarge, .tooManyEvents, .tooManySends: 413
            case .unsupportedMediaType, .unsupportedEncoding: 415
            case .invalidCategories, .invalidExperiments: 422
            case .rateLimited: 429
            case .headTooLarge: 431
            case .unavailable, .overloaded, .draining, .notReady, .unanswered, .wrongClock: 503
            }
        }

        /// Where an operator reads more, if one can cause or mend it.
        var runbook: Runbook? {
            switch self {
            case .notJSON, .notAnObject, .notAnArray, .missingEvents, .missingSends, .invalidSource, .notUnpackable,
                .malformedRequest, .ambiguousFraming, .unknownPath, .methodNotAllowed, .bodyStalled, .bodyTooLarge,
                .unpackedTooLarge, .tooManyEvents, .tooManySends, .unsupportedMediaType, .unsupportedEncoding,
                .invalidCategories, .invalidExperiments, .headTooLarge:
                nil
            case .missingKey, .unknownKey, .revokedKey, .wrongKeyKind: .keyRefused
            case .rateLimited: .rateLimited
            case .unavailable, .notReady: .databaseAway
            case .overloaded, .unanswered: .overloaded
            case .draining: .serviceAway
            case .wrongClock: .clockWrong
            }
        }

        /// The same text for every occurrence.
        var title: String {
            switch self {
            case .notJSON: "The body is not well-formed JSON in UTF-8"
            case .notAnObject: "The body is not a JSON object"
            case .notAnArray: "The batch is not a JSON array"
            case .missingEvents: "The envelope has no array 'events'"
            case .missingSends: "The envelope has no array 'sends'"
            case .invalidSource: "The envelope's 'source' is not an object"
            case .notUnpackable: "The body is not valid gzip"
            case .malformedRequest: "This is not HTTP/1.1"
            case .ambiguousFraming: "It is unclear where the body ends"
            case .missingKey: "There is no key"
            case .unknownKey: "The key is unknown"
            case .revokedKey: "The key was revoked"
            case .wrongKeyKind: "The key is of the wrong kind"
            case .unknownPath: "There is nothing at this path"
            case .methodNotAllowed: "This path does not support this method"
            case .bodyStalled: "The body did not arrive in time"
            case .bodyTooLarge: "The body is too large"
            case .unpackedTooLarge: "The unpacked body is too large"
            case .tooManyEvents: "The envelope has too many events"
            case .tooManySends: "The envelope has too many sends"
            case .unsupportedMediaType: "The body must be JSON"
            case .unsupportedEncoding: "This content encoding is not supported"
            case .invalidCategories: "The categories are invalid"
            case .invalidExperiments: "The experiments are invalid"
            case .rateLimited: "The app is over its rate limit"
            case .headTooLarge: "The header fields are too large"
            case .unavailable: "The database cannot be reached"
            case .overloaded: "The service is overloaded"
            case .draining: "The service is stopping"
            case .notReady: "The service is not ready"
            case .unanswered: "The answer took too long"
            case .wrongClock: "The server's clock is wrong"
            }
        }
    }

    let code: Code
    let detail: String
    var headers: [(String, String)] = []
    /// What is wrong with a document, each with its path.
    var errors: (any JSONWritable & Sendable)?

    init(_ code: Code, _ detail: String, headers: [(String, String)] = []) {
        self.code = code
        self.detail = detail
        self.headers = headers
    }

    /// Every 429 and 503 says when to try again.
    init(_ code: Code, _ detail: String, retryAfter seconds: Int) {
        self.init(code, detail, headers: [("Retry-After", String(seconds))])
    }

    /// The app has sent more than its limit, and may send again after that many seconds.
    init(rateLimitedFor seconds: Double) {
        // An infinite number of seconds cannot be written into the header field.
        self.init(
            .rateLimited, "The app has reached its limit. Send again, unchanged, after Retry-After.",
            retryAfter: seconds < 3600 ? max(1, Int(saturating: seconds.rounded(.up))) : 3600)
    }

    /// A wrong clock would correct the times, and what is stored stays.
    init(wrongClock fault: String) {
        self.init(
            .wrongClock, "Nothing is accepted at the moment: \(fault). Send it again later, unchanged.", retryAfter: 30)
    }

    /// The shard of an install is being moved to another cell, or was, so that the next try finds it there.
    static let shardMoving = Problem(
        .unavailable, "The events of an install are being moved. Send them again, unchanged.", retryAfter: 1)

    /// Some of the databases that must have it were not known yet.
    static let mapChanged = Problem(
        .unavailable, "The service is just learning of other databases. Send it again, unchanged.", retryAfter: 1)

    /// The key was revoked before the request was read, or before it was stored.
    static let closedKey = Problem(.revokedKey, "This key was revoked. Use another one.")

    /// The HTTP server's own refusals, in the same form.
    init(_ fault: RequestFault) {
        switch fault {
        case .malformed: self.init(.malformedRequest, fault.description)
        case .ambiguousFraming: self.init(.ambiguousFraming, fault.description)
        case .headTooLarge: self.init(.headTooLarge, fault.description)
        case .bodyTooLarge(let limit): self.init(.bodyTooLarge, "At most \(limit) bytes. Send less at a time.")
        case .bodyStalled: self.init(.bodyStalled, fault.description)
        case .unanswered: self.init(.unanswered, fault.description, retryAfter: 2)
        case .draining: self.init(.draining, fault.description, retryAfter: 1)
        case .overloaded: self.init(.overloaded, fault.description, retryAfter: 2)
        }
    }

    var response: Response {
        var members: [(String, any JSONWritable)] = [
            ("type", "about:blank"), ("title", code.title), ("status", code.status), ("code", code.rawValue),
            ("detail", detail),
        ]
        if let errors { members.append(("errors", errors)) }
        return Response(
            status: code.status, headers: [("Content-Type", "application/problem+json")] + headers,
            body: Array((JSONObject(members).json + "\n").utf8))
    }
}
