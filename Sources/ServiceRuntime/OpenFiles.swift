internal import Glibc

/// How many files and sockets this process may have open.
package enum OpenFiles {
    /// Raises the limit towards what is wanted, as far as the system lets us, and gives what it is now.
    package static func raiseLimit(to wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < rlim_t(wanted), limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
