import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The name of the database's host is not resolved")
struct SlowNameFaultTests {
    /// A resolver that knows one name, and says nothing while a file is there.
    private final class Resolver {
        static let host = "database.test"
        private let scratch = TemporaryDirectory()

        init() throws {
            let source = """
                #define _GNU_SOURCE
                #include <dlfcn.h>
                #include <netdb.h>
                #include <string.h>
                #include <unistd.h>
                int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
                    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                        dlsym(RTLD_NEXT, "getaddrinfo");
                    if (node && 0 == strcmp(node, "\(Self.host)")) {
                        /* As long as a resolver asks three name servers, for several endings of the name. */
                        for (int i = 0; i < 1800 && 0 == access("\(scratch("silent"))", F_OK); i++) usleep(50000);
                        node = "127.0.0.1";
                    }
                    return real(node, service, hints, result);
                }
                """
            try source.write(toFile: scratch("slow.c"), atomically: false, encoding: .utf8)
            let built = try ChildProcess.run([
                "clang", "-shared", "-fPIC", "-o", scratch("slow.so"), scratch("slow.c"), "-ldl",
            ])
            #expect(built.status == 0, "\(built)")
        }

        var runner: [String] { ["env", "LD_PRELOAD=\(scratch("slow.so"))"] }

        func silence() throws { try "".write(toFile: scratch("silent"), atomically: false, encoding: .utf8) }
        func speak() { unlink(scratch("silent")) }
    }

    @Test(
        "clients are turned away at once, health is told, it stops in time, and goes on when names are resolved again")
    func silent() throws {
        let resolver = try Resolver()
        let server = try DatabaseServer(listening: true)
        var bellwether = Bellwether(database: server.url(host: Resolver.host))
        bellwether.runner = resolver.runner
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed())

        try resolver.silence()
        var administrator = try server.administrator()
        try administrator.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'bellwether %'")
        #expect(load.isRefused(5))
        // All its workers wait for a name now; whoever asks has an answer at once.
        let client = service.client()
        let end = Deadline.after(seconds: FaultLength.seconds(3))
        repeat {
            #expect(try client.get("/healthz").status == 200)
            #expect(try client.get("/readyz").status == 503)
            #expect(try client.post(Wire.envelope(Wire.event()), key: key).status == 503)
        } while !end.hasPassed
        #expect(load.brokenConnections == 0)

        // One that starts meanwhile listens, and is not ready; both stop within the time that is promised.
        let second = try bellwether.serve(waitsUntilReady: false)
        #expect(try second.client().get("/readyz").status == 503)
        let began = Deadline.now
        #expect(try second.stop() == 0)
        let took = Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
        FaultLength.report("no name is resolved: a service stopped after \(took) s")
        let command = try bellwether.run("status")
        #expect(command.status == 69 && command.messages.contains("name servers"), "\(command)")

        resolver.speak()
        #expect(load.isServed(), "\(service.log.suffix(2000))")
        try service.waitUntilReady()
        try Laws.check(load, url: server.url)
        #expect(try service.stop() == 0)
    }
}
