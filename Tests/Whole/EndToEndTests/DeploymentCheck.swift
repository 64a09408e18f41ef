import Foundation
import ProjectFolder
import TestSupport

/// One run of the checker, `deployment/check.py`, which reads YAML with what Debian has for it.
struct DeploymentCheck {
    /// 0 for no disagreement, 1 for some, 2 when nothing could be compared.
    let status: Int32
    /// The disagreements, a line each.
    let output: String

    /// What to check.
    enum Subject: String, Sendable {
        case compose, image, alerts, workflow
    }

    private struct Input: Encodable {
        let root = ProjectFolder.path
        let binary = Bellwether.path
        let files: [String: String]
        let metrics: [String: String]
    }

    /// Debian's packages are seen by Debian's Python alone, whichever else comes first in PATH.
    static func run(
        _ subject: Subject, files: [String: String] = [:], metrics: [String: String] = [:]
    ) throws -> DeploymentCheck {
        let input = try JSONEncoder().encode(Input(files: files, metrics: metrics))
        let ended = try ChildProcess.run(
            [
                "/usr/bin/python3", "-I", "-B", ProjectFolder.path + "/Tests/Whole/EndToEndTests/deployment/check.py",
                subject.rawValue,
            ],
            input: String(decoding: input, as: UTF8.self))
        return DeploymentCheck(status: ended.status, output: ended.output + ended.messages)
    }
}
