select 'open as x
