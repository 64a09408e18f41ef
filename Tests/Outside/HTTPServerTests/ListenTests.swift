import Foundation
import Glibc
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Listening")
struct ListenTests {
    private let scratch = TemporaryDirectory()

    private func error(_ listen: HTTPServerConfiguration.Address) -> HTTPServerError? {
        do {
            _ = try TestServer(listen: listen)
            return nil
        } catch {
            return error as? HTTPServerError
        }
    }

    @Test("it listens on IPv4, on IPv6, on both, and on the addresses of a name")
    func addresses() throws {
        for (host, families) in [
            ("127.0.0.1", [AF_INET]), ("::1", [AF_INET6]), ("::", [AF_INET, AF_INET6]), ("localhost", [AF_INET]),
        ] {
            let server = try TestServer(listen: .tcp(host: host, port: 0))
            #expect(server.port != 0)
            for family in families {
                let client = try RawClient(port: server.port, family: family)
                client.send("GET /head HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer().body.hasSuffix(family == AF_INET ? "|127.0.0.1" : "|::1"))
            }
        }
    }

    @Test("a port in use is a clear error, and free again when its server has stopped")
    func busyPort() throws {
        let first = try TestServer()
        let address = HTTPServerConfiguration.Address.tcp(host: "127.0.0.1", port: first.port)
        let failure = try #require(error(address))
        #expect(failure == .addressInUse(address: "127.0.0.1:\(first.port)"))
        #expect(failure.description.contains("127.0.0.1:\(first.port) is in use"))
        let client = try first.client()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 200)
        first.server.stop(deadline: .now)
        #expect(error(address) == nil)
    }

    @Test("an address that is not this machine's, or no address at all, is a clear error")
    func unknownAddress() {
        for host in ["203.0.113.7", "no such host.invalid"] {
            guard case .addressUnknown(let address, _)? = error(.tcp(host: host, port: 0)) else {
                Issue.record("\(host) was listened on, or failed otherwise")
                continue
            }
            #expect(address == "\(host):0")
        }
    }

    @Test("a Unix socket serves, has its permissions, and is gone when its server stops")
    func unixSocket() throws {
        let path = scratch("http.sock")
        let server = try TestServer(listen: .unix(path: path))
        #expect(server.server.address == .unix(path: path))
        let client = try RawClient(path: path)
        client.send(
            "GET /head HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        #expect(try client.answer().body == "GET|/head|-|-|unix")
        #expect(try client.answer().body == "hi")
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
        server.server.stop(deadline: .now)
        #expect(lstat(path, &status) != 0)
    }

    @Test("a live Unix socket is not taken over; one that a killed server left is")
    func staleUnixSocket() throws {
        let path = scratch("http.sock")
        let first = try TestServer(listen: .unix(path: path)) { $0.unixSocketMode = 0o600 }
        #expect(error(.unix(path: path)) == .addressInUse(address: path))
        let client = try RawClient(path: path)
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 200)
        first.server.stop(deadline: .now)

        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(left)
        let second = try TestServer(listen: .unix(path: path))
        let again = try RawClient(path: path)
        again.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try again.answer().status == 200)
        second.server.stop(deadline: .now)
    }

    @Test("a file in the way, a path too long and a directory that is not there are clear errors")
    func badPaths() throws {
        let file = scratch("file")
        #expect(FileManager.default.createFile(atPath: file, contents: Data("mine".utf8)))
        #expect(error(.unix(path: file)) == .notASocket(path: file))
        #expect(FileManager.default.contents(atPath: file) == Data("mine".utf8))
        let long = scratch(String(repeating: "a", count: 120))
        #expect(error(.unix(path: long)) == .pathTooLong(path: long, limit: 107))
        let nowhere = scratch("nowhere/http.sock")
        let failure = try #require(error(.unix(path: nowhere)))
        #expect(failure.description.contains("No such file or directory"))
    }
}
