package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// printVersion writes what the build knows of itself: the module's version, the commit where it was recorded, the toolchain.
func printVersion(sh *shell) error {
	version, commit, dirty := "(unknown)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = " with changes"
			}
		}
	}
	_, err := fmt.Fprintf(sh.out, "fairgate %s%s%s, %s %s/%s\n", version, commit, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
