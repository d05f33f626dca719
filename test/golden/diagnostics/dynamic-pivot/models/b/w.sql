select k, n2024 from a.w
