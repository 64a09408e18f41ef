package enum Migrations { package static var x: Int { PackageResources._001_create_log_sql.count } }
