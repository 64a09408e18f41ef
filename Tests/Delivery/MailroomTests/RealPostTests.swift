import Foundation
import ProjectFolder
import ServiceRuntime
import TestSupport
import Testing

/// What `make test` installs for these tests, in an environment that is kept between runs.
enum PostTools {
    static let python = ProjectFolder.path + "/.build/post/bin/python"
    static var areThere: Bool { FileManager.default.isExecutableFile(atPath: python) }

    static func script(_ name: String) -> String {
        ProjectFolder.path + "/Tests/Delivery/MailroomTests/post/\(name).py"
    }

    /// Debian's msmtp, as the system's sendmail.
    static let sendmail = "/usr/sbin/sendmail"
    static var hasSendmail: Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: sendmail))?.hasSuffix("msmtp") == true
    }
}

@Suite(
    "Reports with what others made",
    .enabled(if: PostTools.areThere, "make test installs Tests/Delivery/MailroomTests/post"))
struct RealPostTests {
    private struct Read: Decodable {
        let sender: String
        let recipients: [String]
        let type: String
        let headers: [String: String]
        let text, html: String
        let defects: [String]
    }

    @Test(
        "a mail goes through the system's sendmail to a mail server, and is read as it was written",
        .enabled(if: PostTools.hasSendmail, "msmtp-mta is not installed"))
    func mail() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let sink = try ChildProcess([PostTools.python, "-B", PostTools.script("sink"), night.files.path])
        #expect(
            eventually(within: 60) { FileManager.default.fileExists(atPath: night.files("port")) }, "\(sink.messages)")
        let port = try String(contentsOfFile: night.files("port"), encoding: .utf8)
        let account = "account default\nhost 127.0.0.1\nport \(port)\nauth off\ntls off\n"
        try night.write(".msmtprc", account)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: night.files(".msmtprc"))
        try night.write(
            "places.json",
            """
            {"from": "reports@shop.example", "sendmail": "\(PostTools.sendmail)",
             "places": [{"name": "people", "mail": ["ana@shop.example", "bo@shop.example"]}]}
            """)
        let ended = try night.run(by: night.bellwether.knowing(["HOME": night.files.path]))
        #expect(ended.status == 0, "\(ended)")
        let read = try ChildProcess.run(["/usr/bin/python3", "-B", PostTools.script("read"), night.files("000.eml")])
        let mail = try JSONDecoder().decode(Read.self, from: Data(read.output.utf8))
        #expect(mail.sender == "reports@shop.example" && mail.recipients == ["ana@shop.example", "bo@shop.example"])
        #expect(mail.type == "multipart/alternative" && mail.defects.isEmpty)
        #expect(mail.headers["subject"] == "chat, Friday 20 November: nothing unusual")
        #expect(mail.headers["bellwether-repeat"] == "no" && mail.headers["auto-submitted"] == "auto-generated")
        #expect(mail.text.contains("chat · Friday 20 November 2026") && mail.html.contains("<h2 style=\"font:"))

        // Nobody takes it: the mail is told of as not sent, in sendmail's words, and goes out the next time.
        kill(sink.id, SIGKILL)
        _ = try sink.wait()
        let failed = try night.run("2026-11-19", by: night.bellwether.knowing(["HOME": night.files.path]))
        #expect(failed.status == 1 && failed.messages.contains("/usr/sbin/sendmail ended with "), "\(failed)")
        #expect(failed.messages.contains("cannot connect to 127.0.0.1"), "\(failed)")
    }

    @Test("a receiver's library for signed webhooks believes what is sent, and nothing else", arguments: [true, false])
    func signature(isEncoded: Bool) throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let place = try ListeningPlace()
        let key = "whsec_" + Data(Night.key.utf8).base64EncodedString()
        // Without the prefix, the bytes of the text are the key.
        try night.write("key", isEncoded ? key : Night.key)
        try night.places(night.json("warehouse", place))
        #expect(try night.run().status == 0)
        let heard = try #require(place.heard.first)
        func verify(_ body: String, _ headers: [String: String]) throws -> ChildProcess.Ended {
            let given = try JSONSerialization.data(withJSONObject: ["body": body, "headers": headers])
            return try ChildProcess.run(
                [PostTools.python, "-B", PostTools.script("verify"), key], input: String(decoding: given, as: UTF8.self)
            )
        }
        let verified = try verify(heard.body, heard.headers)
        #expect(verified.status == 0 && verified.output.contains("\"app\": \"chat\""), "\(verified)")
        var other = heard.headers
        other["webhook-id"] = "another"
        #expect(try verify(heard.body, other).status != 0)
        #expect(try verify(heard.body.replacingOccurrences(of: "chat", with: "shop"), heard.headers).status != 0)

        // As the guide says it, with what every system has.
        let signed = "\(heard.headers["webhook-id"] ?? "").\(heard.headers["webhook-timestamp"] ?? "").\(heard.body)"
        let digest = try ChildProcess.run(
            ["sh", "-c", "openssl dgst -sha256 -hmac '\(Night.key)' -binary | base64"], input: signed)
        #expect(
            heard.headers["webhook-signature"] == "v1," + digest.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
