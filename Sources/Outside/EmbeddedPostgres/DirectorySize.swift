internal import Glibc

/// What a directory holds.
package enum DirectorySize {
    /// Whether it can be read and there is nothing in it.
    package static func isEmpty(_ path: String) -> Bool { FilePath.isEmptyDirectory(path) }

    /// The bytes of all files in it and below it. Links are not followed.
    package static func bytes(in path: String) -> Int64 {
        (FilePath.names(in: path) ?? []).reduce(0) { sum, name in
            let place = "\(path)/\(name)"
            var status = stat()
            guard unsafe lstat(place, &status) == 0 else { return sum }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: return sum + bytes(in: place)
            case S_IFREG: return sum + Int64(status.st_size)
            default: return sum
            }
        }
    }
}
