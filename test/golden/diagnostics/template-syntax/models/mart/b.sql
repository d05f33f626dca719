select {{ dbt_utils.star('x') }},
{%- for x in ['a', 'b'] %} {{ x }} {% endfor %}
from stg.orders
