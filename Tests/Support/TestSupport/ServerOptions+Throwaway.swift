package import EmbeddedPostgres

extension ServerOptions {
    /// Fast to create and fast to write, for clusters that tests throw away.
    package static let throwawaySettings = [
        "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "64MB",
        "max_wal_size": "256MB", "min_wal_size": "32MB",
        // Tables without statistics look large, and compiling a query costs more than running it on the few rows that
        // they have.
        "jit": "off",
    ]
}
