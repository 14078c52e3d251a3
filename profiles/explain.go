package profiles

// YAML is the profile in full, with every default written out. Read back it
// is the same profile.
func (p *Profile) YAML() ([]byte, error) {
	return emit(profileKeys.write(p), nil), nil
}
