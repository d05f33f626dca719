{% macro cents(x) %} {{ x }} / 100 {% endmacro %}
