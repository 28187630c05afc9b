package command

import (
	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe/device"
)

// completeFlags completes the values of flags and the names of files.
func completeFlags(command *cobra.Command) {
	command.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var extensions []string
		for _, f := range fileFormats {
			for _, e := range f.readExtensions() {
				extensions = append(extensions, e[1:])
			}
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	complete := func(flag string, values func() []string) {
		if command.Flags().Lookup(flag) == nil {
			return
		}
		err := command.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
		cobra.CheckErr(err) // the flag exists, and is completed once
	}
	complete("from", func() []string { return append(formatNames(), tableFormats...) })
	complete("to", func() []string { return append(formatNames(), tableFormat) })
	complete("device", deviceNames)
}

func deviceNames() (list []string) {
	devices, _ := device.List() // the others are of use too
	for _, d := range devices {
		list = append(list, d.Name)
	}
	return list
}
