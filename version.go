package gpuframe

// Version is the version of this source as a Go module version. The modules of the repository
// and the Python package have the same one. Between two releases it is that of the next one.
// docs/versions.md has the promises of versions.
const Version = "v0.1.0"
