/// Sockets that listen for a server in another process. The process that holds them decides where that server is; while
/// it is started again, its clients wait instead of being refused.
package final class Door: Sendable {
    /// With the port that the system chose.
    package let address: HTTPServerConfiguration.Address
    private let listener: Listener

    package init(_ address: HTTPServerConfiguration.Address) throws(HTTPServerError) {
        listener = try Listener(address, unixSocketMode: HTTPServerConfiguration(listen: address).unixSocketMode)
        self.address = listener.address
    }

    deinit { listener.close() }

    /// What the other process inherits.
    package var descriptors: [Int32] { listener.descriptors }
}
