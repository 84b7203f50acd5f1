"""The functions that SQL of agents and users may call, by family; all others are refused.

They compute on values. None reads a file, the network, the environment, a setting or the catalogue, and none
sleeps, logs, or runs text as SQL.
"""

_FAMILIES = {
    "operators": """
        + - * / // % ** ^ & | ~ << >> || = != <> < <= > >= && @> <@ -> ->> ! @ ~~ !~~ ~~* !~~* ~~~ ^@ <->
    """,
    "logic": """
        coalesce nullif ifnull if least greatest like_escape not_like_escape ilike_escape not_ilike_escape
    """,
    "numbers": """
        abs acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees
        divide even exp factorial fdiv floor fmod gamma gcd greatest_common_divisor isfinite isinf isnan lcm
        least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians random
        round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc width_bucket
        equi_width_bins xor
    """,
    "text": """
        ascii bar base64 bin bit_length char_length character_length chr concat concat_ws contains
        damerau_levenshtein editdist3 ends_with format formatreadabledecimalsize formatreadablesize
        format_bytes from_base64 from_hex hamming hash hex instr jaccard jaro_similarity
        jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein lower lpad
        ltrim md5 mismatches nfc_normalize octet_length ord overlay position prefix printf regexp_escape
        regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
        regexp_split_to_array regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim
        sha1 sha256 split split_part starts_with str_split str_split_regex string_split string_split_regex
        string_to_array strip_accents strlen strpos substr substring substring_grapheme suffix to_base
        to_base64 to_binary to_hex translate trim ucase unhex unicode upper url_decode url_encode encode
        decode
    """,
    "time": """
        age ago century current_date current_localtime current_localtimestamp current_timestamp date_add
        date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
        dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era get_current_time
        get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp
        make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month
        monthname nanosecond normalized_interval now quarter second strftime strptime try_strptime
        time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours
        to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
        to_timestamp to_weeks to_years today transaction_timestamp week weekday weekofyear year yearweek
    """,
    "aggregates": """
        any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min
        arg_min_null argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if
        count_star countif covar_pop covar_samp entropy favg first fsum geomean geometric_mean group_concat
        grouping histogram histogram_exact kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by
        mean median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy
        regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem
        skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow sumkahan var_pop var_samp
        variance wavg weighted_avg
    """,
    "windows": """
        cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank
        rank_dense row_number
    """,
    "lists": """
        apply filter reduce flatten element_at generate_series range generate_subscripts list_aggr
        list_aggregate list_any_value list_append list_apply list_avg list_cat list_concat list_contains
        list_count list_distance list_distinct list_element list_extract list_filter list_first
        list_grade_up list_has list_has_all list_has_any list_indexof list_inner_product list_intersect
        list_last list_max list_median list_min list_mode list_pack list_position list_prepend list_product
        list_reduce list_resize list_reverse list_reverse_sort list_select list_slice list_sort
        list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform list_unique list_value
        list_var_pop list_var_samp list_where list_zip array_append array_concat array_contains
        array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof
        array_intersect array_length array_position array_prepend array_reduce array_reverse array_slice
        array_sort array_to_string array_transform array_unique array_value array_zip unnest
    """,
    "records": """
        row struct_pack struct_extract struct_extract_at struct_insert struct_keys struct_values
        struct_concat struct_contains map map_concat map_contains map_entries map_extract map_extract_value
        map_from_entries map_keys map_values cardinality
    """,
    "json": """
        json json_array json_array_length json_contains json_exists json_extract json_extract_path
        json_extract_path_text json_extract_string json_keys json_object json_quote json_structure json_type
        json_valid json_value to_json row_to_json array_to_json json_group_array json_group_object
    """,
    "types": """
        typeof pg_typeof enum_code enum_range
    """,
}

# Allowed by name, since a list of the forbidden would miss what a new DuckDB brings.
FUNCTIONS = frozenset(name for family in _FAMILIES.values() for name in family.split())
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
