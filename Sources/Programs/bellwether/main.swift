internal import Console

/// In the order of the help text.
enum Commands {
    static var all: [any Command.Type] {
        [
            ServeCommand.self, LookCommand.self, LookKeyAddCommand.self, LookKeyListCommand.self,
            LookKeyRevokeCommand.self,
            MigrateCommand.self, AppCreateCommand.self, AppListCommand.self, AppSetCommand.self, AppKeyAddCommand.self,
            AppKeyRevokeCommand.self,
            AppAnalystAddCommand.self, AppAnalystListCommand.self, AppAnalystRemoveCommand.self,
            StatusCommand.self, DoctorCommand.self,
            ProjectCommand.self, ProjectionResumeCommand.self, VerifyCommand.self, RebuildCommand.self,
            RetainCommand.self, ReportCommand.self, AccessCommand.self, EraseCommand.self,
            CategoriesImportCommand.self, CategoriesListCommand.self, CategoriesCheckCommand.self,
            ExperimentsCreateCommand.self, ExperimentsListCommand.self, ExperimentsEndCommand.self,
            EventsTailCommand.self, EventCheckCommand.self, ExportCommand.self, RejectedListCommand.self,
            RejectedReplayCommand.self,
            WordsListCommand.self, WordsMergeCommand.self, WordsPruneCommand.self,
            BackupCommand.self, RestoreCommand.self, PsqlCommand.self, DatabaseURLCommand.self,
            DatabaseStopCommand.self, DatabaseUpgradeCommand.self,
            SendsImportCommand.self, FCMExportImportCommand.self, SimulateCommand.self, DemoCommand.self,
            ClusterCreateCommand.self, ClusterAddCommand.self, ClusterMoveCommand.self, ClusterRemoveCommand.self,
            ClusterSetPlaceCommand.self,
            ClusterStatusCommand.self, ClusterCheckCommand.self,
            CompletionCommand.self, ManCommand.self,
        ]
    }
}

Program(Commands.all).run()
