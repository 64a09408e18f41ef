internal import Glibc

extension StandardStream {
    /// To be called first thing in `main`: a descriptor that somebody left closed (`>&-`) would be given to what is opened
    /// next, and output written into the connection to the database. What is written to it, or read from it, still fails.
    package static func holdClosed() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free one: this.
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
