// What the library touches of Apple's framework, for type-checking elsewhere.
// Compared with Apple's own, name by name (`Signatures.swift`), with the SDK of iOS 17.0.
@_exported import Foundation

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { fatalError() }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { fatalError() }
}

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}

/// Sendable only from iOS 17, macOS 14, tvOS 17 and watchOS 10 on, so not for us.
public final class NWPathMonitor {
    public init() {}
    public var currentPath: NWPath { fatalError() }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
