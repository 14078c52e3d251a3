package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// demoLesson is a lesson of three steps. went notes where it was led.
func demoLesson(went *[]int) *Lesson {
	return &Lesson{
		Steps: []LessonStep{
			{Say: "Four clients share one limit of a thousand requests a second. Together the three small ones ask for a fifth of it; batch asks for five times the limit and asks again when it is refused.",
				Ask: "How much of what it asks for does web get?", Choices: []string{"all of it", "its fifth of the limit", "about a tenth"}},
			{Say: "Somebody proposes to protect the service by halving the limit.", Ask: "Who pays for it?"},
			{Say: "That was it."},
		},
		Go: func(step int) error {
			if went != nil {
				*went = append(*went, step)
			}
			return nil
		},
		Reveal: func(step int) (string, error) {
			return fmt.Sprintf("Step %d: monitoring sees 1000/s of 1000/s admitted, which looks healthy. But batch holds 96%% of that; web gets 10%% of what it is entitled to, mobile 9%%.", step+1), nil
		},
	}
}

func TestLessonScreens(t *testing.T) {
	for name, keys := range map[string][]string{"lesson": nil, "lesson-revealed": {"3"}, "lesson-clients": {"n", "n", "2", "tab"}, "lesson-hidden": {"l"}} {
		for _, size := range sizes {
			o := full
			o.Lesson = demoLesson(nil)
			m := press(showing(starvedPicture(), o, size[0], size[1]), keys...)
			screen := m.View()
			mustFit(t, screen, size[0], size[1])
			golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), ended(screen))
		}
	}
}

// On every size the headlines stay at the top, and the question or the answer is there to be read.
func TestLessonFitsEverySize(t *testing.T) {
	many := manyPicture(30)
	for h := MinHeight; h <= 60; h++ {
		for _, w := range []int{40, 59, 80, 115, 116, 140, 200} {
			for _, v := range []view{overviewView, view((h + w) % int(views))} {
				o := full
				o.Lesson = demoLesson(nil)
				m := showing(many, o, w, h).show(v)
				for _, want := range []string{"How much", "Step 1:"} {
					for m.lesson.saysFirst(m.lesson.textRoom(w, h)) {
						if screen := m.View(); m.lesson.read == 0 && !strings.Contains(screen, "Four clients") || strings.Contains(screen, "How much") {
							t.Fatalf("%d×%d: not what the step says first:\n%s", w, h, screen)
						}
						m = press(m, "n")
					}
					screen := m.View()
					mustFit(t, screen, w, h)
					lines := strings.Split(screen, "\n")
					if !strings.Contains(lines[1], "monitoring") || !strings.Contains(lines[2], "clients") {
						t.Fatalf("%d×%d: no headlines:\n%s", w, h, screen)
					}
					if !strings.Contains(screen, want) {
						t.Fatalf("%d×%d: no %q:\n%s", w, h, want, screen)
					}
					m = press(m, "3")
				}
				if m.crash.err != nil {
					t.Fatal(m.crash.err)
				}
			}
		}
	}
}

func TestLessonKeys(t *testing.T) {
	var went []int
	start := func() Model {
		o := full
		o.Lesson, went = demoLesson(&went), nil
		return showing(starvedPicture(), o, 120, 40)
	}
	for _, c := range []struct {
		keys, shows string
		at          int
		went        []int
	}{
		{"", "lesson 1/3 · 1–3 answers", 0, nil},
		{"2", "▸ 2 its fifth", 0, nil},
		{"2", "Step 1: monitoring", 0, nil},
		{"n", "Step 1: monitoring", 0, nil},
		{"n n", "halving the limit", 1, []int{1}},
		{"3 n n n", "That was it.", 2, []int{1, 2}},
		{"3 n n n n", "that was the last step", 2, []int{1, 2}},
		{"3 n b", "How much of what", 0, []int{1, 0}},
		{"b", "this is the first step", 0, nil},
		{"3 2", "sorted:", 0, nil}, // once answered, digits are views again
		{"l", "holds 96% of the admissions", 0, nil},
	} {
		m := press(start(), strings.Fields(c.keys)...)
		if !strings.Contains(m.View(), c.shows) || m.lesson.at != c.at || fmt.Sprint(went) != fmt.Sprint(c.went) {
			t.Errorf("after %q at %d, went %v:\n%s", c.keys, m.lesson.at, went, m.View())
		}
	}
}

// A step that cannot be put into force leaves the lesson where it is, and says why in the footer.
func TestLessonStaysWhereItIsWhenAStepFails(t *testing.T) {
	o := full
	o.Lesson = demoLesson(nil)
	o.Lesson.Go = func(int) error { return errors.New("shards 4 is too many") }
	m := press(showing(starvedPicture(), o, 120, 40), "n", "n")
	if m.lesson.at != 0 || !strings.Contains(m.View(), "✗ shards 4 is too many") {
		t.Errorf("at %d:\n%s", m.lesson.at, m.View())
	}
}

// While a question is open, a late answer to another step's is not shown as its own.
func TestLateRevealIsDropped(t *testing.T) {
	o := full
	o.Lesson = demoLesson(nil)
	m := press(showing(starvedPicture(), o, 120, 40), "3", "n")
	next, _ := tea.Model(m).Update(toldMsg{step: 0, reveal: "late"})
	if next.(Model).lesson.revealed != "" {
		t.Error("the answer to step 1 is shown at step 2")
	}
}
