/// What the owner of an embedded cluster decides about it.
package struct ClusterOptions: Sendable {
    /// The role that owns everything. Fixed when the cluster is made: give the same name each time.
    package var superuser: String
    /// Roles that this machine's allowed users may log in as, besides the superuser. The cluster does not make them.
    package var roles: [String]
    /// Settings for this start, over the computed ones and under the user's own file. Only for throwaway clusters:
    /// `["fsync": "off"]` loses data when the machine dies, and skips the syncs of `initdb` too.
    package var settings: [String: String]

    package init(superuser: String = "postgres", roles: [String] = [], settings: [String: String] = [:]) {
        self.superuser = superuser
        self.roles = roles
        self.settings = settings
    }

    /// Quick to make and quick to write, for clusters that tests throw away.
    package static let throwawaySettings = [
        "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "64MB",
        "max_wal_size": "256MB", "min_wal_size": "32MB",
    ]
}
