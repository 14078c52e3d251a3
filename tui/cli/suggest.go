package cli

import (
	"fmt"
	"strings"
)

// nearest is the one of the choices that word was probably meant to be, or "".
func nearest(word string, choices []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, c := range choices {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if len(word) >= 3 && strings.HasPrefix(c, word) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// didYouMean is the remedy for an unknown word: the nearest choice, or all of them.
func didYouMean(word string, choices []string) string {
	if near := nearest(word, choices); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "there is " + oneOf(choices)
}

// oneOf lists choices as a sentence does: "a, b or c".
func oneOf(choices []string) string {
	switch n := len(choices); n {
	case 0:
		return "none"
	case 1:
		return choices[0]
	default:
		return strings.Join(choices[:n-1], ", ") + " or " + choices[n-1]
	}
}

// distance is how many letters must be added, dropped, replaced or swapped with their neighbour to get from a to b
// (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
