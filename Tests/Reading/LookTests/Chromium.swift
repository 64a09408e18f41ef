import Foundation
import Glibc
import ServiceRuntime
import TestSupport

/// Chromium without a window, driven over its debugging pipe as a person drives it: one page, one command after the
/// other.
final class Chromium {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// What somebody has chosen.
    enum Scheme: String, CaseIterable { case light, dark }

    private let process: ChildProcess
    private let directory = TemporaryDirectory()
    private let (input, output): (Int32, Int32)
    private var unread: [UInt8] = []
    private var serial = 0
    private var session = ""
    /// What the browser said of pages: refused by their policy, failed, thrown.
    private(set) var complaints: [String] = []

    init() throws {
        for name in ["in", "out"] { mkfifo(directory(name), 0o600) }
        let words = [
            "chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--user-data-dir=\(directory("profile"))", "--remote-debugging-pipe", "about:blank",
        ]
        process = try ChildProcess(["sh", "-c", "d=$0; exec \"$@\" 3<\"$d/in\" 4>\"$d/out\"", directory.path] + words)
        // Open to both sides, so that neither waits for the other.
        (input, output) = (
            Glibc.open(directory("in"), O_RDWR | O_CLOEXEC), Glibc.open(directory("out"), O_RDWR | O_CLOEXEC)
        )
        let targets = try ask("Target.getTargets")["targetInfos"] as? [[String: Any]] ?? []
        guard let target = targets.first(where: { $0["type"] as? String == "page" })?["targetId"] as? String else {
            throw Failure(description: "no page: \(targets)")
        }
        session = try ask("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String ?? ""
        for domain in ["Page", "Runtime", "Log", "Network"] { _ = try ask("\(domain).enable") }
    }

    deinit {
        process.signal(SIGKILL)
        _ = try? process.wait(within: 10)
        close(input)
        close(output)
    }

    // MARK: What a person does

    func choose(width: Int, height: Int = 900, _ scheme: Scheme = .light, media: String = "") throws {
        _ = try ask(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
        _ = try ask(
            "Emulation.setEmulatedMedia",
            ["media": media, "features": [["name": "prefers-color-scheme", "value": scheme.rawValue]]])
    }

    func letScripts(_ run: Bool) throws { _ = try ask("Emulation.setScriptExecutionDisabled", ["value": !run]) }

    /// Opens an address and waits until the page is there.
    func open(_ address: String) throws {
        _ = try ask("Page.navigate", ["url": address])
        try isThere("location.href != 'about:blank'")
    }

    /// Does something that leads to another page, and waits for it.
    func go(_ script: String) throws {
        _ = try evaluate("window.isOld = true; \(script); 0")
        try isThere("!window.isOld")
    }

    private func isThere(_ condition: String) throws {
        // While one page gives way to the next, there is nobody to ask.
        let came = eventually {
            (try? evaluate("\(condition) && document.readyState == 'complete'") as? Bool) == true
        }
        guard came else {
            throw Failure(description: "the page did not come: \((try? evaluate("location.href")) ?? "")")
        }
    }

    func waits(for condition: String, within seconds: Double = 20) -> Bool {
        eventually(within: seconds) { (try? evaluate(condition) as? Bool) == true }
    }

    /// What an expression of JavaScript gives, as JSON would have it.
    @discardableResult func evaluate(_ script: String) throws -> Any {
        let answer = try ask("Runtime.evaluate", ["expression": script, "returnByValue": true, "awaitPromise": true])
        if let thrown = answer["exceptionDetails"] { throw Failure(description: "\(thrown)") }
        return (answer["result"] as? [String: Any])?["value"] ?? NSNull()
    }

    /// A picture of the whole page, or of what a person sees first.
    func screenshot(to path: String, whole: Bool = true) throws {
        let answer = try ask("Page.captureScreenshot", ["captureBeyondViewport": whole, "format": "png"])
        guard let data = (answer["data"] as? String).flatMap({ Data(base64Encoded: $0) }) else { return }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// What a screen reader is told: roles with their names.
    func roles() throws -> [(role: String, name: String)] {
        let nodes = try ask("Accessibility.getFullAXTree")["nodes"] as? [[String: Any]] ?? []
        return nodes.filter { $0["ignored"] as? Bool != true }.map { node in
            func value(_ key: String) -> String { ((node[key] as? [String: Any])?["value"] as? String) ?? "" }
            return (value("role"), value("name"))
        }
    }

    // MARK: The pipe

    @discardableResult func ask(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        serial += 1
        var message: [String: Any] = ["id": serial, "method": method, "params": parameters]
        if !session.isEmpty { message["sessionId"] = session }
        var bytes = Array(try JSONSerialization.data(withJSONObject: message)) + [0]
        while !bytes.isEmpty {
            let count = write(input, bytes, bytes.count)
            guard count > 0 else { throw Failure(description: "the browser takes no commands") }
            bytes.removeFirst(count)
        }
        let deadline = Deadline.after(seconds: 60)
        while true {
            let answer = try next(by: deadline)
            if answer["id"] as? Int == serial {
                if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
                return answer["result"] as? [String: Any] ?? [:]
            }
            note(answer)
        }
    }

    private func note(_ event: [String: Any]) {
        let parameters = event["params"] as? [String: Any] ?? [:]
        switch event["method"] as? String {
        case "Log.entryAdded":
            if let entry = parameters["entry"] as? [String: Any], entry["level"] as? String == "error" {
                complaints.append("\(entry["text"] ?? "") \(entry["url"] ?? "")")
            }
        case "Runtime.exceptionThrown": complaints.append("\(parameters)")
        default: break
        }
    }

    private func next(by deadline: Deadline) throws -> [String: Any] {
        while true {
            if let end = unread.firstIndex(of: 0) {
                let message = Data(unread[..<end])
                unread.removeFirst(end + 1)
                return try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
            }
            var waited = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, deadline.pollTimeout) > 0 else {
                throw Failure(description: "the browser says nothing: \(process.messages.suffix(500))")
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure(description: "the browser has gone") }
            unread += buffer[..<count]
        }
    }
}
