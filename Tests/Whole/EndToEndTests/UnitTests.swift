import Foundation
import ProjectFolder
import TestSupport
import Testing

/// `Examples/systemd`, judged by systemd itself.
@Suite("The systemd units")
struct UnitTests {
    private static let directory = ProjectFolder.path + "/Examples/systemd"
    private static let layouts = ["embedded", "own-database"]

    private static func services() throws -> [String] {
        try layouts.flatMap { layout in
            try FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(layout)").map { "\(layout)/\($0)" }
        }.filter { $0.hasSuffix(".service") }.sorted()
    }

    @Test("no service is exposed by 3 or more of 10, and one that is not hardened is found out")
    func hardened() throws {
        let services = try Self.services()
        #expect(services.count == 11)
        func judge(_ path: String) throws -> Int32 {
            try ChildProcess.run(["systemd-analyze", "security", "--offline=true", "--threshold=30", path]).status
        }
        for service in services { #expect(try judge("\(Self.directory)/\(service)") == 0, "\(service)") }
        let scratch = TemporaryDirectory()
        try "[Service]\nExecStart=/bin/true\n".write(
            toFile: scratch("bare.service"), atomically: false, encoding: .utf8)
        #expect(try judge(scratch("bare.service")) != 0)
    }

    @Test(
        "each layout is understood by systemd, runs as a user of its own, and its commands are ours", arguments: layouts
    )
    func understood(layout: String) throws {
        let scratch = TemporaryDirectory()
        let timers = try FileManager.default.contentsOfDirectory(atPath: Self.directory).filter {
            $0.hasSuffix(".timer")
        }
        #expect(timers.count == 3)
        let services = try Self.services().filter { $0.hasPrefix(layout) }
        var copies: [String] = []
        for file in timers + services {
            let text = try String(contentsOfFile: "\(Self.directory)/\(file)", encoding: .utf8)
            let copy = scratch((file as NSString).lastPathComponent)
            // systemd looks whether the program is there.
            try text.replacing("/usr/local/bin/bellwether ", with: Bellwether.path + " ")
                .write(toFile: copy, atomically: false, encoding: .utf8)
            copies.append(copy)
            guard file.hasSuffix(".service") else { continue }
            #expect(text.contains("\nUser=bellwether\n"), "\(file)")
            var command = String(try #require(text.firstMatch(of: /ExecStart=\/usr\/local\/bin\/bellwether (.+)/)).1)
            // What a person sets by `systemctl edit`, without repeating the command.
            for variable in command.matches(of: /\$\{?(\w+)\}?/) {
                let value = try #require(text.firstMatch(of: try Regex("\nEnvironment=\(variable.1)=(\\w*)")))
                command.replace(variable.0, with: try #require(value.output[1].substring))
            }
            // A database that is not there: the words are right if that is all that is wrong.
            if !command.hasPrefix("serve") {
                let nowhere = Bellwether(database: "postgresql://127.0.0.1:1/none")
                let ended = try nowhere.start(
                    command.replacing("/var/lib/bellwether-reports", with: scratch.path).split(separator: " ").map(
                        String.init)
                ).wait()
                #expect(ended.status == 69, "\(file): \(ended.messages)")
            }
        }
        let verified = try ChildProcess.run(["systemd-analyze", "verify"] + copies)
        #expect(verified.status == 0 && verified.messages == "", "\(verified.messages)")
    }
}
