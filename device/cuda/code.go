package cuda

import "fmt"

// Code is the driver's CUresult. It is an error: errors.Is matches exactly that code.
// Compare a code without a constant here by its number: errors.Is(err, cuda.Code(912)).
type Code int32

// The codes that programs test for most often.
const (
	CodeSuccess              Code = 0
	CodeInvalidValue         Code = 1
	CodeOutOfMemory          Code = 2
	CodeNotInitialized       Code = 3
	CodeDeinitialized        Code = 4
	CodeNeedsNewerDriver     Code = 36
	CodeDeviceUnavailable    Code = 46
	CodeNoDevice             Code = 100
	CodeInvalidDevice        Code = 101
	CodeInvalidImage         Code = 200
	CodeInvalidContext       Code = 201
	CodeNoBinaryForGPU       Code = 209
	CodeECCUncorrectable     Code = 214
	CodeInvalidPTX           Code = 218
	CodeUnsupportedPTX       Code = 222
	CodeInvalidHandle        Code = 400
	CodeNotFound             Code = 500
	CodeNotReady             Code = 600
	CodeIllegalAddress       Code = 700
	CodeLaunchOutOfResources Code = 701
	CodeLaunchTimeout        Code = 702
	CodePeerAlreadyEnabled   Code = 704
	CodePeerNotEnabled       Code = 705
	CodeContextDestroyed     Code = 709
	CodeLaunchFailed         Code = 719
	CodeNotPermitted         Code = 800
	CodeNotSupported         Code = 801
	CodeUnknown              Code = 999
)

// Name returns the driver's name for the code, such as CUDA_ERROR_OUT_OF_MEMORY, or
// CUresult(n) for a code that is newer than this package.
func (c Code) Name() string {
	if name := lookUp(c).name; name != "" {
		return name
	}
	return fmt.Sprintf("CUresult(%d)", int32(c))
}

// Description returns a short description of the code.
func (c Code) Description() string {
	if description := lookUp(c).description; description != "" {
		return description
	}
	return "a code that is newer than this version of gpuframe"
}

// Error returns the name, the number and the description.
func (c Code) Error() string {
	return fmt.Sprintf("%s (%d): %s", c.Name(), int32(c), c.Description())
}

// Is reports whether target is the sentinel of package backend for the code.
func (c Code) Is(target error) bool {
	sentinel := lookUp(c).meaning.sentinel()
	return sentinel != nil && sentinel == target
}
