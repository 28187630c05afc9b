// Package lint reads the files of the folder above with the code of the programs that read them: the manifests with the
// types of Kubernetes, the chart with Helm, the Dockerfile with BuildKit, and the unit with systemd-analyze. Each function
// returns all faults of a file as one error, and nil for a file without faults. Nothing is fetched.
package lint
