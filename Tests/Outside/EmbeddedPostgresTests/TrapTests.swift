import EmbeddedPostgres
import Foundation
import ServiceRuntime
import Testing

@Suite("Traps that another user of the machine lays for root", .enabled(if: geteuid() == 0, "only root can be caught"))
struct TrapTests {
    private func refusal(_ data: String) -> String? {
        do {
            try EmbeddedServer.throwaway(data).release()
            return nil
        } catch { return "\(error)" }
    }

    @Test("an empty directory of another user's is refused, and so is what lies in one that he or anybody may write to")
    func directories() async throws {
        try await ServerDirectory.with { scratch throws in
            let theirs = scratch.path + "/theirs"
            mkdir(theirs, 0o755)
            chown(theirs, getpwnam("nobody").pointee.pw_uid, gid_t.max)
            #expect(refusal(theirs)?.contains("belongs to user nobody") == true)
            #expect(refusal(theirs + "/data")?.contains("belongs to user nobody") == true)
            for mode: mode_t in [0o777, 0o757] {
                let open = scratch.path + "/open-\(mode)"
                mkdir(open, 0o700)
                chmod(open, mode)
                #expect(refusal(open)?.contains("anybody may write to") == true)
                #expect(refusal(open + "/data")?.contains("anybody may write to") == true)
                #expect(try FileManager.default.contentsOfDirectory(atPath: open).isEmpty)
            }
            let group = scratch.path + "/group"
            mkdir(group, 0o700)
            chown(group, uid_t.max, getpwnam("nobody").pointee.pw_gid)
            chmod(group, 0o770)
            #expect(refusal(group + "/data")?.contains("a group") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: theirs).isEmpty)
        }
    }

    @Test("a link of another user's on the way is refused, also to a place that is sound")
    func links() async throws {
        try await ServerDirectory.with { scratch throws in
            let sound = scratch.path + "/sound"
            mkdir(sound, 0o755)
            let link = scratch.path + "/link"
            symlink(sound, link)
            lchown(link, getpwnam("nobody").pointee.pw_uid, gid_t.max)
            #expect(refusal(link + "/data")?.contains("belongs to user nobody") == true)
            #expect(refusal(link)?.contains("belongs to user nobody") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: sound).isEmpty)
            // In a directory where everybody has his own, as /tmp is, the same.
            let sticky = scratch.path + "/sticky"
            mkdir(sticky, 0o755)
            chmod(sticky, 0o1777)
            let planted = sticky + "/planted"
            symlink(sound, planted)
            lchown(planted, getpwnam("nobody").pointee.pw_uid, gid_t.max)
            #expect(refusal(planted)?.contains("belongs to user nobody") == true)
            #expect(refusal(sticky + "/data") == nil)
        }
    }
}
