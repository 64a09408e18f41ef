import Foundation
import Testing

@testable import BellwetherClient

@Suite("What phones want to be told of files is told")
struct FileSystemTests {
    private let scratch = QueueDirectory(inMemory: true)

    private func queue(_ marked: Guarded<[[String]]>) -> Queue {
        Queue(
            directory: scratch.url,
            mark: { [scratch] path in
                let names = scratch.names()
                marked.withLock { $0.append([path == scratch.url.standardizedFileURL.path ? "it" : path] + names) }
            })
    }

    @Test("the directory is marked before anything is made in it, whoever made it, and once by a process")
    func marked() throws {
        let marked = Guarded<[[String]]>([])
        let queue = queue(marked)
        try queue.append(2)
        #expect(marked.withLock { $0 } == [["it"]])
        try FileManager.default.removeItem(at: scratch.url)
        try FileManager.default.createDirectory(at: scratch.url, withIntermediateDirectories: true)
        let another = Guarded<[[String]]>([])
        try self.queue(another).append(2)
        #expect(another.withLock { $0 } == [["it"]], "somebody else made it")
    }

    @Test("a directory that was taken away is marked anew")
    func markedAnew() throws {
        let marked = Guarded<[[String]]>([])
        let queue = queue(marked)
        try queue.append(1)
        try FileManager.default.removeItem(at: scratch.url)
        try queue.append(1)
        #expect(marked.withLock { $0 } == [["it"], ["it"]])
    }

    @Test("a barrier is asked for where there is one, and where it fails the file is synced")
    func barrier() throws {
        try FileManager.default.createDirectory(at: scratch.url, withIntermediateDirectories: true)
        let file = try OpenFile(scratch.path("file"), O_WRONLY | O_CREAT)
        let asked = Guarded<[Int32]>([])
        for answer in [true, false] {
            try file.sync(
                FileSystem(barrier: { descriptor in
                    asked.withLock { $0.append(descriptor) }
                    return answer
                }))
        }
        #expect(asked.withLock { $0 } == [file.descriptor, file.descriptor])
    }
}
