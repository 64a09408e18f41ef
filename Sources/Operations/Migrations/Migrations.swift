internal import EventLog
package import Postgres
internal import Projections
package import ServiceRuntime

/// The schema that this program needs, carried in the binary: it reads no file at run time. Views that follow from a
/// declaration are made of it.
///
/// A file of this folder that is not listed here would never run, so a test holds list and folder together. The views
/// of the funnels have no files: most follow from what their projectors declare.
package enum Migrations {
    /// In order, once ever. To take a column away from a view, drop the view here first.
    package static let steps: [Migration] = [
        Migration("0001_roles", PackageResources._001_roles_sql),
        Migration("0002_apps_and_keys", PackageResources._002_apps_and_keys_sql),
        Migration("0003_dictionary", PackageResources._003_dictionary_sql),
        Migration("0004_batches", PackageResources._004_batches_sql),
        Migration("0005_events", PackageResources._005_events_sql),
        Migration("0006_partitions", PackageResources._006_partitions_sql),
        Migration("0007_refused", PackageResources._007_refused_sql),
        Migration("0008_losses", PackageResources._008_losses_sql),
        Migration("0009_analytics", PackageResources._009_analytics_sql),
        Migration("0010_projections", PackageResources._010_projections_sql),
        Migration("0011_deliveries", PackageResources._011_deliveries_sql),
        Migration("0012_funnels", PackageResources._012_funnels_sql),
        Migration("0013_reports", PackageResources._013_reports_sql),
        Migration("0014_registry", PackageResources._014_registry_sql),
        Migration("0015_sends", PackageResources._015_sends_sql),
        Migration("0016_reader_keys", PackageResources._016_reader_keys_sql),
        Migration("0017_cluster", PackageResources._017_cluster_sql),
        Migration("0018_moves", PackageResources._018_moves_sql),
        Migration("0019_pages", PackageResources._019_pages_sql),
        Migration("0020_backups", PackageResources._020_backups_sql),
        Migration("0021_proofs", PackageResources._021_proofs_sql),
        Migration("0022_goals", PackageResources._022_goals_sql),
        Migration("0023_letters", PackageResources._023_letters_sql),
        Migration("0024_kept_days", PackageResources._024_kept_days_sql),
        Migration("0025_phases", PackageResources._025_phases_sql),
        Migration("0026_statistics", PackageResources._026_statistics_sql),
    ]

    /// Applied again whenever their text changes, those that others stand on first.
    package static let definitions: [Migration] =
        [
            Migration("view_apps", PackageResources.view_apps_sql),
            Migration(name: "view_events", sql: EventViews.sql),
            Migration("view_batch_loss_now", PackageResources.view_batch_loss_now_sql),
            Migration("view_batch_expected", PackageResources.view_batch_expected_sql),
            Migration("view_batches", PackageResources.view_batches_sql),
            Migration("view_app_batches", PackageResources.view_app_batches_sql),
            Migration("view_rejected_events", PackageResources.view_rejected_events_sql),
            Migration("view_client_drops", PackageResources.view_client_drops_sql),
            Migration("view_merged_word", PackageResources.view_merged_word_sql),
            Migration("view_newest_edition", PackageResources.view_newest_edition_sql),
            Migration("view_registered_category", PackageResources.view_registered_category_sql),
            Migration("view_registered_button", PackageResources.view_registered_button_sql),
            Migration("view_shown_category", PackageResources.view_shown_category_sql),
            Migration("view_closing_button", PackageResources.view_closing_button_sql),
            Migration("view_newest_experiment", PackageResources.view_newest_experiment_sql),
            Migration("view_experiment_versions", PackageResources.view_experiment_versions_sql),
            Migration("view_latest_change", PackageResources.view_latest_change_sql),
            Migration("view_known_button", PackageResources.view_known_button_sql),
            Migration("view_shown_button", PackageResources.view_shown_button_sql),
            Migration(name: "view_opened_delivery", sql: DeliveryTable.openedView),
            Migration(name: "view_opened_install_day", sql: InstallDayTable.openedView),
            Migration("view_deliveries", PackageResources.view_deliveries_sql),
            Migration("view_installs", PackageResources.view_installs_sql),
            Migration("view_experiment_count", PackageResources.view_experiment_count_sql),
            Migration("view_experiment_days", PackageResources.view_experiment_days_sql),
            Migration("view_experiments", PackageResources.view_experiments_sql),
            Migration("view_goals", PackageResources.view_goals_sql),
            Migration("view_goal_base", PackageResources.view_goal_base_sql),
            Migration("view_send_days", PackageResources.view_send_days_sql),
            Migration("view_dated_delay", PackageResources.view_dated_delay_sql),
            Migration("view_message_delivery", PackageResources.view_message_delivery_sql),
            Migration("view_moved_batch", PackageResources.view_moved_batch_sql),
        ] + Projectors.all.map { Migration(name: "view_counted_\($0.name)", sql: $0.countedView) } + [
            Migration("view_fcm_days", PackageResources.view_fcm_days_sql),
            Migration("view_fcm_campaigns", PackageResources.view_fcm_campaigns_sql),
            Migration("view_sends", PackageResources.view_sends_sql),
            Migration("view_story_pages", PackageResources.view_story_pages_sql),
            Migration("view_day_story", PackageResources.view_day_story_sql),
            Migration("view_story_day_pages", PackageResources.view_story_day_pages_sql),
            Migration("view_fcm_export", PackageResources.view_fcm_export_sql),
        ] + funnels + [
            Migration(funnel: "campaign_funnel", PackageResources.view_campaign_funnel_sql),
            Migration(funnel: "category_actions", PackageResources.view_category_actions_sql),
            Migration(funnel: "send_delays", PackageResources.view_send_delays_sql),
            Migration("view_category_answers", PackageResources.view_category_answers_sql),
            Migration("view_categories", PackageResources.view_categories_sql),
            Migration("view_category_buttons", PackageResources.view_category_buttons_sql),
            Migration(funnel: "story_page_funnel", PackageResources.view_story_page_funnel_sql),
            Migration("view_goal_funnel", PackageResources.view_goal_funnel_sql),
            Migration("view_goal_times", PackageResources.view_goal_times_sql),
            Migration("view_delivered_day", PackageResources.view_delivered_day_sql),
            Migration("view_kept_state", PackageResources.view_kept_state_sql),
            Migration("view_computed_stack_depth", PackageResources.view_computed_stack_depth_sql),
            Migration("view_computed_pressure", PackageResources.view_computed_pressure_sql),
            Migration("view_stack_depth_funnel", PackageResources.view_stack_depth_funnel_sql),
            Migration("view_category_version_funnel", PackageResources.view_category_version_funnel_sql),
            Migration("view_hour_funnel", PackageResources.view_hour_funnel_sql),
            Migration("view_device_hour_funnel", PackageResources.view_device_hour_funnel_sql),
            Migration("view_pressure_funnel", PackageResources.view_pressure_funnel_sql),
            Migration("view_data_quality", PackageResources.view_data_quality_sql),
            Migration("view_projections", PackageResources.view_projections_sql),
            Migration("view_proofs", PackageResources.view_proofs_sql),
            Migration("view_reports", PackageResources.view_reports_sql),
            Migration("view_report_categories", PackageResources.view_report_categories_sql),
            Migration("view_report_pages", PackageResources.view_report_pages_sql),
            Migration("view_report_to_do", PackageResources.view_report_to_do_sql),
            Migration("view_report_deliveries", PackageResources.view_report_deliveries_sql),
        ]

    /// The views that the projectors declare.
    private static let funnels = Projectors.all.flatMap { projector in
        projector.tables.compactMap { table in
            table.viewDefinition(of: projector).map { Migration(name: "view_\(table.name)", sql: $0) }
        }
    }

    /// Raise it with every change of a definition that goes out.
    private static let definitionsVersion: Int32 = 1

    /// Runs what is missing. A database that is new gets so many shards, once for ever.
    package static func run(
        shards: Int16? = nil, on connection: inout Connection, log: Log
    ) throws(MigrationError) -> [String] {
        if let shards {
            do { try connection.query("SELECT set_config('bellwether.shards', \("\(shards)"), false)") } catch {
                throw .database(nil, error)
            }
        }
        let isHub: Bool
        do { isHub = try Self.isHub(&connection) } catch { throw .database(nil, error) }
        return try (isHub ? hubRunner : runner).run(on: &connection, log: log)
    }

    /// The state of a database, as this program sees it.
    package static func state(of connection: inout Connection) throws(PostgresError) -> MigrationRunner.State {
        try (isHub(&connection) ? hubRunner : runner).state(of: &connection)
    }

    /// Runs them, and keeps their history in the schema `bellwether`.
    package static let runner = runner(definitions)
    /// The runner of a hub.
    private static let hubRunner = runner(definitions.map(HubViews.definition))

    /// All that are made.
    private static let schemas = [
        "analytics", "bellwether", "cells", "cluster", "counted", "hub", "log", "projection", "registry", "report",
        "sends",
    ]

    private static func runner(_ definitions: [Migration]) -> MigrationRunner {
        MigrationRunner(
            schema: "bellwether", steps: steps + NextVersion.steps,
            definitions: definitions.map(NextVersion.definition).map(\.bound),
            definitionsVersion: definitionsVersion + NextVersion.definitionsAhead, ownSchemas: schemas)
    }

    /// Whether the database is the hub of a cluster.
    private static func isHub(_ connection: inout Connection) throws(PostgresError) -> Bool {
        let isMade: Bool = try connection.query("SELECT to_regclass('cluster.state') IS NOT NULL")[0].get(0)
        guard isMade else { return false }
        return try connection.query(
            "SELECT coalesce((SELECT is_hub FROM cluster.cell WHERE cell = s.cell), false) FROM cluster.state AS s")[0]
            .get(0)
    }
}

extension Migration {
    /// With the rule that keeps a login to its apps, for all views that analysts read.
    fileprivate var bound: Migration { Migration(name: name, sql: sql + "\nSELECT log.bind_views();") }

    fileprivate init(_ name: String, _ sql: [UInt8]) {
        self.init(name: name, sql: String(decoding: sql, as: UTF8.self))
    }

    /// A funnel's view that is written by hand, with the comments that its table declares.
    fileprivate init(funnel name: String, _ sql: [UInt8]) {
        let table = Projectors.all.flatMap { $0.tables }.first { $0.name == name }
        self.init(name: "view_\(name)", sql: String(decoding: sql, as: UTF8.self) + (table?.comments ?? ""))
    }
}
