select '{{ not a template }}' as a, {'a': 1} as b -- {{ nor this }}
