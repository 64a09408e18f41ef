internal import Console

Program([
    ServeCommand.self, MigrateCommand.self, AppCreateCommand.self, AppListCommand.self, AppSetCommand.self,
    AppKeyAddCommand.self, AppKeyRevokeCommand.self, StatusCommand.self, ProjectCommand.self,
    ProjectionResumeCommand.self, VerifyCommand.self, RebuildCommand.self, RetainCommand.self, ReportCommand.self,
    EraseCommand.self, CategoriesImportCommand.self, CategoriesListCommand.self, CategoriesCheckCommand.self,
    RejectedListCommand.self, RejectedReplayCommand.self, WordsListCommand.self, WordsMergeCommand.self,
    WordsPruneCommand.self, PsqlCommand.self, DatabaseURLCommand.self, DatabaseStopCommand.self,
    SendsImportCommand.self, FCMExportImportCommand.self, SimulateCommand.self, DemoCommand.self,
]).run()
