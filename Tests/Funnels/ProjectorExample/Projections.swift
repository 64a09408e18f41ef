// The example beside this file is written for the module of the projectors, and so imports nothing of it.
@_exported public import Projections
