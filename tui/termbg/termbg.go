// Package termbg keeps Bubble Tea from asking the terminal for its background colour at start-up.
//
// Bubble Tea's package init calls [lipgloss.HasDarkBackground], which writes a query to the terminal and waits up to five seconds for
// an answer. On a terminal that answers nothing (a serial line, a recorder, some CI systems) even `fairgate --version` would hang
// that long. Once a background was set by hand lipgloss no longer asks, so this package sets one in an init that runs earlier:
//
//	lipgloss ─► fairgate/tui/termbg ─► … ─► github.com/charmbracelet/bubbletea
//
// Go initialises, of all packages whose imports are ready, the one with the smallest import path first. This
// package imports lipgloss alone, and its path sorts before "github.com/", so it is always ready and first in line. It must therefore
// import nothing more, and the module must keep a name that sorts before "github.com/".
//
// Whether the background really is dark is asked later, where it matters, or told with --theme.
package termbg

import "github.com/charmbracelet/lipgloss"

func init() {
	lipgloss.SetHasDarkBackground(true)
}
