#if canImport(Network)
internal import Network

/// Which network the device uses. The system tells so some milliseconds after this begins.
final class NetworkWatch: Sendable {
    private let monitor = NWPathMonitor()

    init() { monitor.start(queue: .global(qos: .utility)) }

    deinit { monitor.cancel() }

    /// Nil while it is not known, and without a network.
    var network: Bellwether.Media.Network? {
        let path = monitor.currentPath
        return Bellwether.Media.Network(
            isConnected: path.status == .satisfied, usesWiFi: path.usesInterfaceType(.wifi),
            usesCellular: path.usesInterfaceType(.cellular))
    }
}
#endif
