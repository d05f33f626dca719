select 1 as a,
<<<<<<< HEAD
  2 as b
=======
  3 as b
>>>>>>> other
