// Stands for the runtime that Objective-C has on Apple platforms: that this can be imported is all that the library
// asks.
