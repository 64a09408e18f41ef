internal import Foundation

/// What the person allows, as the system's settings say.
struct Permission: Sendable, Hashable {
    var authorization: Bellwether.Authorization?
    var previews: Bellwether.Previews?
    var settings: Bellwether.Settings?
}

/// What the library asks the system's notification centre.
struct SystemCenter: Sendable {
    var permission: @Sendable (_ answer: @escaping @Sendable (Permission) -> Void) -> Void
    /// Reads the notifications in the notification centre, and sweeps them.
    var sweep: @Sendable (Bellwether) -> Void
}

extension Bellwether.Authorization {
    /// Takes the raw value of the system's status; nil for one that is not known.
    init?(status: Int) {
        switch status {
        case 0: self = .notDetermined
        case 1: self = .denied
        case 2: self = .authorized
        case 3: self = .provisional
        case 4: self = .ephemeral
        default: return nil
        }
    }
}

extension Bellwether.Previews {
    /// Takes the raw value of the system's setting; nil for one that is not known.
    init?(setting: Int) {
        switch setting {
        case 0: self = .always
        case 1: self = .whenAuthenticated
        case 2: self = .never
        default: return nil
        }
    }
}

#if !canImport(UserNotifications) || os(tvOS)
extension SystemCenter {
    /// This system has no notification centre.
    static let system: SystemCenter? = nil
}
#endif
