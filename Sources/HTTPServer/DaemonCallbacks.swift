internal import CMicroHTTPD
internal import Glibc

/// What libmicrohttpd calls, on its I/O threads. Each copies what it is given and hands over.
enum DaemonCallbacks {
    // SAFETY, for all: `context` is the `ServerContext` given to the daemon, alive as long as it; the context of a
    // connection is the `Connection` retained at its start and released at its end. Other pointers are used within the
    // call only.

    static let connectionChanged: MHD_NotifyConnectionCallback = { context, handle, slot, event in
        guard let context = unsafe context, let handle = unsafe handle, let slot = unsafe slot else { return }
        if event == .CONNECTION_NOTIFY_STARTED {
            let server = unsafe Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
            let descriptor = unsafe bellwether_connection_descriptor(handle)
            guard let connection = server.connections[descriptor] else { return }
            unsafe slot.pointee = Unmanaged.passRetained(connection).toOpaque()
            unsafe connection.started(handle: handle)
        } else if let object = unsafe slot.pointee {
            unsafe slot.pointee = nil
            unsafe Unmanaged<Connection>.fromOpaque(object).takeRetainedValue().closed()
        }
    }

    static let requestLine:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            _, target, handle in
            guard let connection = unsafe connection(of: handle) else { return nil }
            connection.requestLineArrived(target: unsafe target.map { unsafe String(cString: $0) } ?? "")
            return nil
        }

    static let answer: MHD_AccessHandlerCallback = { _, handle, _, method, version, data, size, _ in
        guard let connection = unsafe connection(of: handle), let size = unsafe size else { return .NO }
        let step: Connection.Step
        if unsafe size.pointee > 0, let data = unsafe data {
            step = unsafe connection.received(UnsafeRawBufferPointer(start: data, count: size.pointee))
            unsafe size.pointee = 0
        } else {
            step = connection.advance {
                unsafe (text(method), text(version), fields(of: handle), bellwether_head_size(handle))
            }
        }
        switch step {
        case .proceed: return .YES
        case .close: return .NO
        case .send(let response, let close): return unsafe queue(response, close: close, on: handle)
        }
    }

    static let requestCompleted: MHD_RequestCompletedCallback = { _, handle, _, reason in
        guard let connection = unsafe connection(of: handle) else { return }
        connection.completed(answered: reason == .REQUEST_TERMINATED_COMPLETED_OK)
    }

    static let log: MHD_LogCallback = { context, format, arguments in
        guard let context = unsafe context, let format = unsafe format, let arguments = unsafe arguments else { return }
        var line = [CChar](repeating: 0, count: 512)
        unsafe vsnprintf(&line, line.count, format, arguments)
        let server = unsafe Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
        server.complain(String(cText: line))
    }

    private static func connection(of handle: OpaquePointer?) -> Connection? {
        guard let handle = unsafe handle, let object = unsafe bellwether_connection_context(handle) else { return nil }
        return unsafe Unmanaged<Connection>.fromOpaque(object).takeUnretainedValue()
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    private static func fields(of handle: OpaquePointer?) -> HeaderFields {
        var fields = HeaderFields(capacity: unsafe bellwether_head_size(handle))
        unsafe withUnsafeMutablePointer(to: &fields) { pointer in
            _ = unsafe MHD_get_connection_values_n(handle, MHD_ValueKind.HEADER_KIND, appendField, pointer)
        }
        return fields
    }

    private static let appendField: MHD_KeyValueIteratorN = { context, _, name, nameSize, value, valueSize in
        guard let fields = unsafe context?.assumingMemoryBound(to: HeaderFields.self) else { return .NO }
        unsafe fields.pointee.append(
            name: UnsafeRawBufferPointer(start: name, count: nameSize),
            value: UnsafeRawBufferPointer(start: value, count: valueSize))
        return .YES
    }

    private static func queue(_ response: Response, close: Bool, on handle: OpaquePointer?) -> MHD_Result {
        let made = unsafe response.body.withUnsafeBytes { body -> OpaquePointer? in
            unsafe MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made = unsafe made else { return .NO }
        // libmicrohttpd keeps its own reference to what is queued.
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in response.sendableHeaders { _ = unsafe MHD_add_response_header(made, name, value) }
        if close { _ = unsafe MHD_add_response_header(made, "Connection", "close") }
        return unsafe MHD_queue_response(handle, UInt32(response.status), made)
    }
}
