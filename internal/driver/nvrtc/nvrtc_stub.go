//go:build !cgo || !linux || !(amd64 || arm64)

package nvrtc

// Compile returns an error that wraps [ErrNotAvailable].
func Compile(string, int, int, []string) (string, error) {
	return "", &Unavailable{Path: "libnvrtc.so", Reason: "this program was built without cgo, or not for 64-bit Linux"}
}
